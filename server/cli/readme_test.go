package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const readme = "../../README.md"

// TestReadmeSize keeps the README one that is read to its end.
func TestReadmeSize(t *testing.T) {
	const most = 9_000
	info, err := os.Stat(readme)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most {
		t.Errorf("README.md has %d bytes, want at most %d", info.Size(), most)
	}
}

// TestReadmeConfig holds the block that the README shows for Claude Desktop to
// what config prints and writes, for the program and the directory of the block.
func TestReadmeConfig(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(text, -1)
	if len(found) != 1 {
		t.Fatalf("the README has %d blocks of JSON, want that of Claude Desktop", len(found))
	}
	block := string(found[0][1])
	var shown struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(block), &shown); err != nil {
		t.Fatal(err)
	}
	entry := shown.Servers["toolcrib"]
	if len(entry.Args) != 2 || entry.Args[0] != "serve" {
		t.Fatalf("args %q, want serve and a directory", entry.Args)
	}

	dir, home := inProject(t), t.TempDir()
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "TOOLCRIB_STATE_DIR="}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(quoted(entry.Command), quoted(program), quoted(entry.Args[1]), quoted(dir)).Replace(block)

	printed, stderr, code := invocation{args: []string{"config", "claude-desktop", dir}, env: env}.start(t)
	if code != 0 || !strings.Contains(printed, "\n\n"+want+"\n") {
		t.Errorf("config claude-desktop: exit code %d, stderr %q, and without the block of the README:\n%s", code, stderr, printed)
	}
	if _, stderr, code := (invocation{args: []string{"config", "claude-desktop", "--write", dir}, env: env}).start(t); code != 0 {
		t.Fatalf("config --write: exit code %d, %s", code, stderr)
	}
	var written []byte
	if err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "claude_desktop_config.json" {
			written, err = os.ReadFile(path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(written)); diff != "" {
		t.Errorf("the file (-README +written):\n%s", diff)
	}
}
