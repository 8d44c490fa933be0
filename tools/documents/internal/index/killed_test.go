package index_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// killedTexts are what the process that is killed indexes.
func killedTexts() collection {
	c := sentences(rand.New(rand.NewPCG(1, 6)), 300)
	for i := range c {
		c[i] += fmt.Sprintf("common unique%d", i)
	}
	return c
}

// A server that is killed at any time leaves an index that is right as far as it goes, and
// that another one completes.
func TestKilled(t *testing.T) {
	if root := os.Getenv("TOOLCRIB_KILLED_ROOT"); root != "" {
		indexUntilKilled(t, root)
		return
	}
	ws, dir := tooltest.Tree(t, nil)
	r := rand.New(rand.NewPCG(1, 7))
	c := killedTexts()
	for kill := range 6 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "TOOLCRIB_KILLED_ROOT="+dir, "TOOLCRIB_KILLED_STATE="+ws.StateBase(), fmt.Sprintf("TOOLCRIB_KILLED_SEED=%d", kill))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := r.IntN(30); n >= 0 && lines.Scan(); n-- {
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		x := open(t, ws)
		files, err := x.Files(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range c {
			want := 0
			if _, known := files[fmt.Sprint(i)]; known {
				want = 1
			}
			hits, err := x.Search(t.Context(), []string{fmt.Sprintf("unique%d", i)}, func(id index.ID) bool { return id == files[fmt.Sprint(i)].Content }, 10)
			if err != nil || len(hits) != want {
				t.Fatalf("after kill %d text %d is found %d times, want %d (%v)", kill, i, len(hits), want, err)
			}
		}
	}
}

func indexUntilKilled(t *testing.T, root string) {
	ws, err := workspace.Open([]string{root}, workspace.Options{StateBase: os.Getenv("TOOLCRIB_KILLED_STATE"), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	var seed uint64
	if _, err := fmt.Sscan(os.Getenv("TOOLCRIB_KILLED_SEED"), &seed); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(2, seed))
	x, c := open(t, ws), killedTexts()
	for {
		from := r.IntN(len(c) - 20)
		if r.IntN(3) == 0 {
			err = x.Forget(t.Context(), []string{fmt.Sprint(from)})
		} else {
			err = x.Put(t.Context(), c.readings(from, from+1+r.IntN(20)))
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("step")
	}
}
