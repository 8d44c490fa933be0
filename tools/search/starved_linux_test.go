package search_test

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// A search that may open no file has not found that there is nothing.
func TestTooManyOpenFiles(t *testing.T) {
	ws, _ := tooltest.Tree(t, map[string]string{"sub/a.txt": "needle\n"})
	var full []*os.File // so that all numbers below the last are in use
	for range 64 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		full = append(full, f)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	})
	refused := map[string]int{}
	for free := range uint64(12) {
		few := syscall.Rlimit{Cur: uint64(full[len(full)-1].Fd()) + 1 + free, Max: was.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		for name, args := range map[string]string{
			"grep": `{"pattern":"needle","mode":"files","fresh":true}`,
			"glob": `{"pattern":["*.txt"],"fresh":true}`,
		} {
			result, err := tooltest.Call(t.Context(), ws, tool(t, name), json.RawMessage(args))
			switch e := tools.AsError(err); {
			case e == nil && !strings.Contains(tooltest.Text(result), "\nsub/a.txt\n"):
				t.Errorf("%s with %d free: %s", name, free, tooltest.Text(result))
			case e != nil && !strings.Contains(e.Msg, "too many open files"):
				t.Errorf("%s with %d free: %v", name, free, err)
			case e != nil && e.Hint != "":
				refused[name]++
			}
		}
	}
	if refused["grep"] == 0 || refused["glob"] == 0 {
		t.Errorf("refused with a way out: %v", refused)
	}
}
