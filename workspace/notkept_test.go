package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/workspace"
)

// TestRestores brings back a protected file only where an operation says that it
// does so.
func TestRestores(t *testing.T) {
	s := newStage(t, nil, workspace.Options{})
	op := s.write(".claude/settings.json", "{}")
	_, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}})
	if ruleOf(t, err) != workspace.RuleProtected {
		t.Errorf("error %v", err)
	}
	op.Restores = true
	_, err = s.Apply(t.Context(), workspace.Change{Undoes: "x", Ops: []workspace.Op{op}})
	check(t, err)
	if got := s.tree()[".claude/settings.json"]; got != "{}" {
		t.Errorf("it holds %q", got)
	}
	records, _, err := s.History(t.Context(), workspace.HistoryQuery{})
	check(t, err)
	if len(records) != 1 || records[0].Undoes != "x" {
		t.Errorf("history: %+v", records)
	}
}

// TestNotKept has files go that are too large to be kept: the receipt says so.
func TestNotKept(t *testing.T) {
	for name, ops := range map[string]func(s *stage) []workspace.Op{
		"write":  func(s *stage) []workspace.Op { return []workspace.Op{s.write("big", "new")} },
		"delete": func(s *stage) []workspace.Op { return []workspace.Op{s.op(workspace.OpDelete, "big", "")} },
		"move":   func(s *stage) []workspace.Op { return []workspace.Op{over(s.op(workspace.OpMove, "big", "f"))} },
		"copy":   func(s *stage) []workspace.Op { return []workspace.Op{over(s.op(workspace.OpCopy, "big", "f"))} },
		"in a tree": func(s *stage) []workspace.Op {
			check(s.t, os.Mkdir(s.host("d"), 0o755))
			check(s.t, os.Rename(s.host("big"), s.host("d/big")))
			op := s.op(workspace.OpDelete, "d", "")
			op.Recursive = true
			return []workspace.Op{op}
		},
		"first of two": func(s *stage) []workspace.Op {
			return []workspace.Op{s.op(workspace.OpDelete, "big", ""), s.op(workspace.OpDelete, "f", "")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, map[string]string{"f": "small", "big": "x"}, workspace.Options{})
			check(t, os.Truncate(s.host("big"), workspace.MaxKept+1))
			done, err := s.Apply(t.Context(), workspace.Change{Ops: ops(s)})
			check(t, err)
			if !strings.HasSuffix(done.NotKept, "big is larger than 67 MB") || done.ID == "" {
				t.Errorf("ID %q, not kept %q", done.ID, done.NotKept)
			}
		})
	}
}

func over(op workspace.Op) workspace.Op {
	op.Overwrite = true
	return op
}

// TestStateFails has the state fail: nobody is told that it were the file.
func TestStateFails(t *testing.T) {
	base := filepath.Join(t.TempDir(), "state")
	journal := filepath.Join(base, "shared", "journal.d")
	dir := t.TempDir()
	ws, err := workspace.Open([]string{dir}, workspace.Options{StateBase: base})
	check(t, err)
	first := &stage{ws, t, dir}
	_, err = first.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{first.write("f", "x")}})
	check(t, err)
	check(t, ws.Close())
	check(t, os.RemoveAll(journal))
	check(t, os.WriteFile(journal, nil, 0o600))
	s := newStage(t, map[string]string{"f": "old"}, workspace.Options{StateBase: base})
	_, err = s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{s.write("f", "new")}})
	e, ok := errors.AsType[*workspace.Error](err)
	if !ok || !strings.HasPrefix(e.Msg, "nothing was changed: the server cannot keep its state in "+base) {
		t.Errorf("error %v", err)
	}
	if got := s.tree()["f"]; got != "old" {
		t.Errorf("f holds %q", got)
	}
}

func TestIsRoot(t *testing.T) {
	s := newStage(t, map[string]string{"d/f": ""}, workspace.Options{})
	for name, want := range map[string]bool{".": true, s.dir: true, "d/..": true, "d": false, "d/f": false} {
		if got := s.path(name).IsRoot(); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
