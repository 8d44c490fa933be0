package workspace_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
)

// meanwhile is a write of a file of its own, and what another program does after
// the change was located and the operations before this one were planned. It does
// it once.
func (s *stage) meanwhile(do func()) workspace.Op {
	op, done := s.write("hook", "x"), false
	op.New = func(workspace.Old) ([]byte, error) {
		if !done {
			do()
		}
		done = true
		return []byte("x"), nil
	}
	return op
}

func (s *stage) host(name string) string { return filepath.Join(s.dir, name) }

// TestApplyForeign has other programs change a tree in the middle of a change.
func TestApplyForeign(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		ops   func(s *stage) []workspace.Op
		want  map[string]string
		err   string
	}{{
		name:  "a file that is to be replaced goes",
		files: map[string]string{"f": "old"},
		ops: func(s *stage) []workspace.Op {
			return []workspace.Op{s.write("f", "new"), s.meanwhile(func() { check(s.t, os.Remove(s.host("f"))) })}
		},
		want: map[string]string{"f": "new", "hook": "x"},
	}, {
		name: "a file comes where one is to be made",
		ops: func(s *stage) []workspace.Op {
			return []workspace.Op{s.write("f", "new"), s.meanwhile(func() { check(s.t, os.WriteFile(s.host("f"), []byte("theirs"), 0o644)) })}
		},
		want: map[string]string{"f": "new", "hook": "x"},
	}, {
		name: "a file comes where none may be",
		ops: func(s *stage) []workspace.Op {
			op := s.write("f", "new")
			op.Expect.Absent = true
			return []workspace.Op{op, s.meanwhile(func() { check(s.t, os.WriteFile(s.host("f"), []byte("theirs"), 0o644)) })}
		},
		want: map[string]string{"f": "theirs"}, err: "f exists",
	}, {
		name:  "a tree takes the place of a file that is to be replaced",
		files: map[string]string{"f": "old"},
		ops: func(s *stage) []workspace.Op {
			return []workspace.Op{s.write("f", "new"), s.meanwhile(func() { s.replaceByTree("f") })}
		},
		want: map[string]string{"f/": "", "f/g": "theirs"}, err: "f was replaced by another meanwhile",
	}, {
		name:  "a tree takes the place of a file that is to go",
		files: map[string]string{"f": "old"},
		ops: func(s *stage) []workspace.Op {
			return []workspace.Op{s.op(workspace.OpDelete, "f", ""), s.meanwhile(func() { s.replaceByTree("f") })}
		},
		want: map[string]string{"f/": "", "f/g": "theirs"}, err: "f was replaced by another meanwhile",
	}, {
		name:  "a tree takes the place of a file that is to be copied over",
		files: map[string]string{"f": "old", "from": "new"},
		ops: func(s *stage) []workspace.Op {
			op := s.op(workspace.OpCopy, "f", "from")
			op.Overwrite, op.Expect.Hash = true, hash("new")
			return []workspace.Op{op, s.meanwhile(func() { s.replaceByTree("f") })}
		},
		want: map[string]string{"f/": "", "f/g": "theirs", "from": "new"}, err: "f was replaced by another meanwhile",
	}, {
		name:  "an empty directory that is to go is filled",
		files: map[string]string{"d/g": ""},
		ops: func(s *stage) []workspace.Op {
			check(s.t, os.Remove(s.host("d/g")))
			return []workspace.Op{s.op(workspace.OpDelete, "d", ""), s.meanwhile(func() { check(s.t, os.WriteFile(s.host("d/g"), []byte("theirs"), 0o644)) })}
		},
		want: map[string]string{"d/": "", "d/g": "theirs"}, err: "d is a directory that is not empty",
	}, {
		name:  "a file grows out of all bounds while something is appended",
		files: map[string]string{"f": "old"},
		ops: func(s *stage) []workspace.Op {
			op := s.op(workspace.OpAppend, "f", "")
			op.Data = []byte("new")
			return []workspace.Op{op, s.meanwhile(func() { check(s.t, os.Truncate(s.host("f"), workspace.MaxEdit+1)) })}
		},
		want: map[string]string{"f": "old" + strings.Repeat("\x00", workspace.MaxEdit-2) + "new", "hook": "x"},
	}, {
		name:  "a directory becomes a link to a protected path",
		files: map[string]string{"d/hooks/f": "old", ".git/hooks/f": "theirs"},
		ops: func(s *stage) []workspace.Op {
			return []workspace.Op{s.meanwhile(func() {
				check(s.t, os.RemoveAll(s.host("d")))
				check(s.t, os.Symlink(".git", s.host("d")))
			}), s.write("d/hooks/f", "new")}
		},
		want: map[string]string{".git/": "", ".git/hooks/": "", ".git/hooks/f": "theirs", "d": "-> .git"},
		err:  "d/hooks/f was replaced by another meanwhile",
	}, {
		name:  "a link to nothing gets a target that is protected",
		files: map[string]string{"l": "-> .git/hooks", ".git/HEAD": ""},
		ops: func(s *stage) []workspace.Op {
			return []workspace.Op{s.meanwhile(func() { check(s.t, os.Mkdir(s.host(".git/hooks"), 0o755)) }), s.write("l/f", "new")}
		},
		want: map[string]string{".git/": "", ".git/hooks/": "", ".git/HEAD": "", "l": "-> .git/hooks"},
		err:  "l/f was replaced by another meanwhile",
	}} {
		for _, backend := range []string{"openat2", "os.Root"} {
			t.Run(backend+"/"+test.name, func(t *testing.T) {
				s := newStage(t, test.files, workspace.Options{Portable: backend == "os.Root"})
				_, err := s.Apply(t.Context(), workspace.Change{Tool: "test", Ops: test.ops(s)})
				if text := fmt.Sprint(err); err == nil && test.err != "" || err != nil && text != test.err {
					t.Errorf("error %v, want %q", err, test.err)
				}
				if got := s.tree(); !cmp.Equal(got, test.want) {
					t.Errorf("tree (-want +got):\n%.2000s", cmp.Diff(outlined(test.want), outlined(got)))
				}
			})
		}
	}
}

func outlined(tree map[string]string) map[string]string {
	short := map[string]string{}
	for name, content := range tree {
		short[name] = fmt.Sprintf("%.20q %d", content, len(content))
	}
	return short
}

func (s *stage) replaceByTree(name string) {
	s.t.Helper()
	check(s.t, os.Remove(s.host(name)))
	check(s.t, os.Mkdir(s.host(name), 0o755))
	check(s.t, os.WriteFile(s.host(name+"/g"), []byte("theirs"), 0o644))
}

// TestApplyGivesUp has a program that writes a file all the time.
func TestApplyGivesUp(t *testing.T) {
	s := newStage(t, map[string]string{"f": "0"}, workspace.Options{})
	n := 0
	op := s.write("f", "")
	op.New = func(workspace.Old) ([]byte, error) {
		n++
		return []byte("mine"), os.WriteFile(s.host("f"), fmt.Appendf(nil, "%d", n), 0o644)
	}
	_, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}})
	if e, ok := errors.AsType[*workspace.Error](err); !ok || e.Rule != workspace.RuleIO || e.Hint == "" {
		t.Errorf("error %#v", err)
	}
	if got := s.tree()["f"]; got != fmt.Sprint(n) {
		t.Errorf("f holds %q after %d tries", got, n)
	}
}

// TestApplyBelowWhatGoes has a change write into a directory that it deletes or moves.
func TestApplyBelowWhatGoes(t *testing.T) {
	s := newStage(t, map[string]string{"d/f": "old", "e": "x"}, workspace.Options{})
	before := s.tree()
	gone := s.op(workspace.OpDelete, "d", "")
	gone.Recursive = true
	for _, ops := range [][]workspace.Op{
		{gone, s.write("d/f", "new")}, {s.write("d/f", "new"), gone}, {gone, s.write("d/g/h", "new")},
		{s.op(workspace.OpMove, "m", "d"), s.write("d/f", "new")}, {s.op(workspace.OpMove, "d/e", "e"), gone},
	} {
		_, err := s.Apply(t.Context(), workspace.Change{Ops: ops})
		if e, ok := errors.AsType[*workspace.Error](err); !ok || e.Rule != workspace.RuleInvalid {
			t.Errorf("error %v", err)
		}
		if diff := cmp.Diff(before, s.tree()); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestApplyInPlace has a directory in which nothing can be replaced.
func TestApplyInPlace(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("needs: a user whom permissions bind")
	}
	large := strings.Repeat("large\n", 60<<20/6)
	s := newStage(t, map[string]string{"d/f": "old", "e/g": large}, workspace.Options{})
	check(t, os.Link(s.host("d/f"), s.host("e/h")))
	for _, dir := range []string{"d", "e"} {
		check(t, os.Chmod(s.host(dir), 0o555))
		t.Cleanup(func() { check(t, os.Chmod(s.host(dir), 0o755)) })
	}
	done, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{s.write("d/f", "new")}})
	check(t, err)
	if notes := strings.Join(done.Done[0].Notes, "\n"); strings.Contains(notes, "file of its own") || s.tree()["e/h"] != "new" {
		t.Errorf("notes %q", notes)
	}
	// Another program writes when the former content is kept and nothing is written
	// yet: the large file takes a while.
	object := filepath.Join(s.StateBase(), "*", "history.d", "objects", "*", hash("new"))
	go func() {
		for t.Context().Err() == nil {
			if found, _ := filepath.Glob(object); len(found) > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if err := os.WriteFile(s.host("d/f"), []byte("theirs, which is longer"), 0o644); err != nil {
			t.Error(err)
		}
	}()
	op := s.write("d/f", "")
	op.New = func(old workspace.Old) ([]byte, error) { return append(old.Data, '!'), nil }
	_, err = s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op, s.write("e/g", "new")}})
	check(t, err)
	if got := s.tree()["d/f"]; got != "theirs, which is longer!" {
		t.Errorf("d/f holds %q", got)
	}
}

// TestRecoverByOtherRoots has a start with another root than the process had that
// was killed after the change had happened.
func TestRecoverByOtherRoots(t *testing.T) {
	s := newStage(t, map[string]string{"d/f": "1", "d/g": "2"}, workspace.Options{StateBase: filepath.Join(t.TempDir(), "state")})
	narrow, err := workspace.Open([]string{s.host("d")}, workspace.Options{StateBase: s.StateBase()})
	check(t, err)
	below := &stage{narrow, t, s.host("d")}
	done, err := below.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{below.write("f", "one"), below.write("g", "two")}})
	check(t, err)
	check(t, narrow.Close())
	check(t, os.WriteFile(s.host("d/.toolcrib-000000000000000a.tmp"), []byte("1"), 0o644))
	root, err := filepath.EvalSymlinks(s.host("d"))
	check(t, err)
	info, err := s.path("d/f").Stat()
	check(t, err)
	leaveJournal(t, s.StateBase(), []map[string]any{
		{"begin": map[string]any{
			"change": done.ID, "record": map[string]any{"id": done.ID}, "home": root + "/f", "root": root,
			"temps": []string{root + "/.toolcrib-000000000000000a.tmp"},
		}},
		{"change": done.ID, "acts": []map[string]any{
			{"kind": "swap", "from": root + "/.toolcrib-000000000000000a.tmp", "to": root + "/f", "device": info.Device, "inode": info.Inode},
			{"kind": "swap", "from": root + "/.toolcrib-000000000000000b.tmp", "to": root + "/g"},
		}},
	}, "")
	got, err := s.Recover(t.Context())
	check(t, err)
	if got.Finished != 1 || len(got.Left) > 0 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(map[string]string{"d/": "", "d/f": "one", "d/g": "two"}, s.tree()); diff != "" {
		t.Error(diff)
	}
}

// TestRecoverKeeps has a start finish a change of one step, whose history must keep
// what went.
func TestRecoverKeeps(t *testing.T) {
	const temp = ".toolcrib-000000000000000a.tmp"
	for _, test := range []struct {
		name   string
		device uint64 // added to what the journal names: devices get other numbers
		files  []workspace.Changed
		inside bool // written in place
	}{
		{name: "swap", files: []workspace.Changed{{Kind: workspace.OpWrite, Path: "f"}}},
		{name: "another number of the device", device: 1, files: []workspace.Changed{{Kind: workspace.OpWrite, Path: "f"}}},
		{name: "next to a directory", files: []workspace.Changed{{Kind: workspace.OpWrite, Path: "f"}, {Kind: workspace.OpDirectory, Path: "z"}}},
		{name: "in place", inside: true, files: []workspace.Changed{{Kind: workspace.OpWrite, Path: "f"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, map[string]string{"f": "new"}, workspace.Options{StateBase: filepath.Join(t.TempDir(), "state")})
			root, err := filepath.EvalSymlinks(s.dir)
			check(t, err)
			info, err := s.path("f").Stat()
			check(t, err)
			for i := range test.files {
				test.files[i].After = &workspace.Version{Kind: workspace.KindFile, Size: 3, Hash: hash("new")}
				if test.files[i].Path == "f" {
					test.files[i].Before = &workspace.Version{Kind: workspace.KindFile, Size: 3, Hash: hash("old")}
				}
			}
			act := map[string]any{"kind": "swap", "from": root + "/" + temp, "to": root + "/f", "device": info.Device + test.device, "inode": info.Inode}
			if test.inside {
				act = map[string]any{"kind": "write", "to": root + "/f", "inode": info.Inode, "device": info.Device, "size": 3, "hash": hash("old"), "after": hash("new")}
				h, err := workspace.HistoryOf(s.Workspace)
				check(t, err)
				_, _, err = h.Keep(t.Context(), strings.NewReader("old"), 3)
				check(t, err)
			} else {
				check(t, os.WriteFile(s.host(temp), []byte("old"), 0o644))
			}
			record, err := json.Marshal(workspace.Record{ID: "x", Time: time.Now(), Files: test.files})
			check(t, err)
			leaveJournal(t, s.StateBase(), []map[string]any{
				{"begin": map[string]any{"change": "x", "record": json.RawMessage(record), "home": root + "/f", "root": root, "temps": []string{root + "/" + temp}}},
				{"change": "x", "acts": []any{act}},
			}, "")
			got, err := s.Recover(t.Context())
			check(t, err)
			if got.Finished != 1 || len(got.Left) > 0 {
				t.Errorf("%+v", got)
			}
			list, _, err := s.History(t.Context(), workspace.HistoryQuery{Path: s.path("f")})
			check(t, err)
			if len(list) != 1 || list[0].Files[0].Before == nil || !list[0].Files[0].Before.Kept || list[0].Files[0].Before.Hash != hash("old") {
				t.Errorf("history %+v", list)
			}
			if diff := cmp.Diff(map[string]string{"f": "new"}, s.tree()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A program that knows no lock appends to a file all the time: each change is made once,
// on what there is, whatever attempts it takes.
func TestApplyOnceBesideAWriter(t *testing.T) {
	s := newStage(t, map[string]string{"f": "0\n"}, workspace.Options{})
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			f, err := os.OpenFile(s.host("f"), os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				f.WriteString("line\n") //nolint:errcheck // a lost line is not what is tested
				f.Close()
			}
			time.Sleep(50 * time.Microsecond)
		}
	})
	defer writer.Wait()
	defer close(done)
	made := 0
	for range 300 {
		_, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{{
			Kind: workspace.OpWrite, Path: s.path("f"),
			New: func(old workspace.Old) ([]byte, error) {
				first, _, _ := strings.Cut(string(old.Data), "\n")
				n, err := strconv.Atoi(first)
				return []byte(strconv.Itoa(n+1) + "\n"), err // what was appended goes
			},
		}}})
		if err == nil {
			made++
		}
	}
	data, err := os.ReadFile(s.host("f"))
	check(t, err)
	if first, _, _ := strings.Cut(string(data), "\n"); first != strconv.Itoa(made) {
		t.Errorf("%d changes were made, and the file counts %s", made, first)
	}
}
