package recorder_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
	"toolcrib/workspace/recorder"
)

func open(t *testing.T, dir, state string) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.Open([]string{dir}, workspace.Options{StateBase: state})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRecord(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	put(t, dir+"/a", "one")
	put(t, dir+"/b", "two")
	put(t, dir+"/d/c", "three")
	ws := open(t, dir, state)
	r := recorder.New(ws)
	r.Begin(recorder.Label{Tool: "bash", Principal: "local", Call: "1"})
	r.Before(dir+"/a", false)
	put(t, dir+"/a", "uno")
	r.Before(dir+"/b", true)
	os.Remove(dir + "/b")
	r.Before(dir+"/new", false)
	put(t, dir+"/new", "new")
	r.Move(dir+"/d", dir+"/e")
	os.Rename(dir+"/d", dir+"/e")
	r.Before(dir+"/e/c", false)
	put(t, dir+"/e/c", "tres")
	changes := r.End()
	want := recorder.Changes{Created: []string{"new"}, Changed: []string{"a", "e/c"}, Deleted: []string{"b"}, Moved: [][2]string{{"d", "e"}}}
	if d := cmp.Diff(want, changes); d != "" {
		t.Error(d)
	}
	list, _, err := ws.History(t.Context(), workspace.HistoryQuery{})
	if err != nil || len(list) != 3 {
		t.Fatalf("%d records, %v", len(list), err)
	}
	for _, rec := range list {
		for _, f := range rec.Files {
			t.Logf("%s %s %s from %q %+v %+v", rec.ID, f.Kind, f.Path, f.From, f.Before, f.After)
		}
	}
}
