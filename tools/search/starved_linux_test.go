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

// starved checks that a search with few file numbers left finds the file or says why not.
func starved(t *testing.T, name, args string) {
	t.Helper()
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
	refused := 0
	for free := range uint64(12) {
		few := syscall.Rlimit{Cur: uint64(full[len(full)-1].Fd()) + 1 + free, Max: was.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		result, err := tooltest.Call(t.Context(), ws, tool(t, name), json.RawMessage(args))
		switch e := tools.AsError(err); {
		case e == nil && !strings.Contains(tooltest.Text(result), "\nsub/a.txt\n"):
			t.Errorf("with %d free: %s", free, tooltest.Text(result))
		case e != nil && !strings.Contains(e.Msg, "too many open files"):
			t.Errorf("with %d free: %v", free, err)
		case e != nil && e.Hint != "":
			refused++
		}
	}
	if refused == 0 {
		t.Error("no call was refused with a way out")
	}
}
