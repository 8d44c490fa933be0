package documents_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools/documents"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

const manyFiles = 50

// Two processes read the same files at once, and one of them is killed at some time. Then the
// texts that are kept are those of the files.
func TestKilledReaders(t *testing.T) {
	if root := os.Getenv("TOOLCRIB_PARSED_ROOT"); root != "" {
		parseMany(t, root)
		return
	}
	tree := map[string]string{}
	for n := range manyFiles {
		tree[fmt.Sprint(n, ".csv")] = "number,text\n" + strings.Repeat(fmt.Sprintf("%d,x\n", n), 3000+n)
	}
	ws, dir := tooltest.Tree(t, tree)
	for kill := range 4 {
		var readers [2]*exec.Cmd
		var lines [2]*bufio.Scanner
		for i := range readers {
			readers[i] = exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledReaders$")
			readers[i].Env = append(os.Environ(), "TOOLCRIB_PARSED_ROOT="+dir, "TOOLCRIB_PARSED_STATE="+ws.StateBase())
			out, err := readers[i].StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := readers[i].Start(); err != nil {
				t.Fatal(err)
			}
			lines[i] = bufio.NewScanner(out)
		}
		for n := 0; n < 1+kill*manyFiles/4 && lines[0].Scan(); n++ {
		}
		if err := readers[0].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = readers[0].Wait() // it was killed
		for lines[1].Scan() {
			if strings.HasPrefix(lines[1].Text(), "wrong") {
				t.Error(lines[1].Text())
			}
		}
		if err := readers[1].Wait(); err != nil {
			t.Fatal(err)
		}
	}
	parseMany(t, dir, ws)
	state, err := ws.State()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir(filepath.Join(state.Path(), "documents.d"))
	if err != nil || len(kept) < manyFiles {
		t.Errorf("%d texts are kept, want %d (%v)", len(kept), manyFiles, err)
	}
}

// parseMany reads every file twice: the second time by another server, so that it is as kept.
func parseMany(t *testing.T, root string, open ...*workspace.Workspace) {
	if open == nil {
		ws, err := workspace.Open([]string{root}, workspace.Options{StateBase: os.Getenv("TOOLCRIB_PARSED_STATE"), NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, ws)
	}
	for range 2 {
		tool := documents.Category(&services.Services{}).Tools[0]
		for n := range manyFiles {
			args, err := json.Marshal(map[string]any{"path": fmt.Sprint(n, ".csv"), "limit": 45000})
			if err != nil {
				t.Fatal(err)
			}
			result, err := tooltest.Call(t.Context(), open[0], tool, args)
			if err != nil {
				t.Fatal(err)
			}
			want := "| number | text |\n| --- | --- |\n" + strings.Repeat(fmt.Sprintf("| %d | x |\n", n), 3000+n)
			_, body, _ := strings.Cut(tooltest.Text(result), "\n\n")
			if len(body) < 30_000 || !strings.HasPrefix(want, body) {
				fmt.Println("wrong", n)
				t.Errorf("%d.csv: %.80q", n, body)
			}
			fmt.Println("read", n)
		}
	}
}
