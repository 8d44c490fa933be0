package workspace_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
)

// stage is a workspace with files and a place for its state.
type stage struct {
	*workspace.Workspace
	t   *testing.T
	dir string
}

func newStage(t *testing.T, files map[string]string, opt workspace.Options) *stage {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "ws")
	for name, content := range files {
		host := filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(host), 0o755))
		if target, link := strings.CutPrefix(content, "-> "); link {
			check(t, os.Symlink(target, host))
			continue
		}
		check(t, os.WriteFile(host, []byte(content), 0o644))
	}
	check(t, os.MkdirAll(dir, 0o755))
	if opt.StateBase == "" {
		opt.StateBase = filepath.Join(base, "state")
	}
	ws, err := workspace.Open([]string{dir}, opt)
	check(t, err)
	t.Cleanup(func() { check(t, ws.Close()) })
	return &stage{ws, t, dir}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stage) path(name string) workspace.Path {
	s.t.Helper()
	if name == "" {
		return workspace.Path{}
	}
	p, err := s.Resolve(name)
	check(s.t, err)
	return p
}

// tree is every file with its content; directories end in a slash.
func (s *stage) tree() map[string]string {
	s.t.Helper()
	found := map[string]string{}
	check(s.t, filepath.WalkDir(s.dir, func(host string, e fs.DirEntry, err error) error {
		if err != nil || host == s.dir {
			return err
		}
		name, _ := filepath.Rel(s.dir, host)
		switch {
		case e.IsDir():
			found[name+"/"] = ""
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(host)
			found[name] = "-> " + target
			return err
		default:
			data, err := os.ReadFile(host)
			found[name] = string(data)
			return err
		}
		return nil
	}))
	return found
}

func (s *stage) write(name, content string) workspace.Op {
	return workspace.Op{Kind: workspace.OpWrite, Path: s.path(name), New: func(workspace.Old) ([]byte, error) {
		return []byte(content), nil
	}}
}

func (s *stage) op(kind workspace.OpKind, name, from string) workspace.Op {
	return workspace.Op{Kind: kind, Path: s.path(name), From: s.path(from)}
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestApply(t *testing.T) {
	with := func(op workspace.Op, change func(*workspace.Op)) workspace.Op {
		change(&op)
		return op
	}
	for _, backend := range []string{"openat2", "os.Root"} {
		for _, test := range []struct {
			name  string
			files map[string]string
			ops   func(s *stage) []workspace.Op
			want  map[string]string // nil = an error, and nothing changed
			err   string
		}{{
			name: "create with parents",
			ops:  func(s *stage) []workspace.Op { return []workspace.Op{s.write("a/b/c", "x\n")} },
			want: map[string]string{"a/": "", "a/b/": "", "a/b/c": "x\n"},
		}, {
			name:  "replace",
			files: map[string]string{"f": "old\n"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.write("f", "new\n")} },
			want:  map[string]string{"f": "new\n"},
		}, {
			name:  "a link keeps leading to the file that is replaced",
			files: map[string]string{"d/f": "old", "l": "-> d/f"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.write("l", "new")} },
			want:  map[string]string{"d/": "", "d/f": "new", "l": "-> d/f"},
		}, {
			name:  "a link to nothing",
			files: map[string]string{"l": "-> nothing"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.write("l", "new")} },
			err:   "l passes a symlink to nothing",
		}, {
			name:  "a link out",
			files: map[string]string{"l": "-> ../outside"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.write("l", "new")} },
			err:   "l leads outside the workspace by a symlink",
		}, {
			name:  "below a link out",
			files: map[string]string{"l": "-> ../"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.write("l/x/y/z", "new")} },
			err:   "l/x/y/z leads outside the workspace by a symlink",
		}, {
			name:  "a directory",
			files: map[string]string{"d/f": ""},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.write("d", "new")} },
			err:   "d is a directory, not a file",
		}, {
			name:  "below a file",
			files: map[string]string{"f": ""},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.write("f/g", "new")} },
			err:   "f is a file, not a directory",
		}, {
			name:  "expected hash",
			files: map[string]string{"f": "old"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{with(s.write("f", "new"), func(o *workspace.Op) { o.Expect.Hash = hash("old") })}
			},
			want: map[string]string{"f": "new"},
		}, {
			name:  "unexpected hash",
			files: map[string]string{"f": "other"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{with(s.write("f", "new"), func(o *workspace.Op) { o.Expect.Hash = hash("old") })}
			},
			err: "f is not the file that was expected",
		}, {
			name:  "no entry may exist",
			files: map[string]string{"f": "old"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{with(s.write("f", "new"), func(o *workspace.Op) { o.Expect.Absent = true })}
			},
			err: "f exists",
		}, {
			name:  "append",
			files: map[string]string{"f": "old"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{with(s.op(workspace.OpAppend, "f", ""), func(o *workspace.Op) { o.Data = []byte("new") })}
			},
			want: map[string]string{"f": "oldnew"},
		}, {
			name:  "delete",
			files: map[string]string{"f": "old", "g": "stays"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.op(workspace.OpDelete, "f", "")} },
			want:  map[string]string{"g": "stays"},
		}, {
			name:  "delete a link, not its target",
			files: map[string]string{"d/f": "old", "l": "-> d"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.op(workspace.OpDelete, "l", "")} },
			want:  map[string]string{"d/": "", "d/f": "old"},
		}, {
			name: "delete nothing",
			ops:  func(s *stage) []workspace.Op { return []workspace.Op{s.op(workspace.OpDelete, "f", "")} },
			err:  "f does not exist",
		}, {
			name:  "delete a tree without saying so",
			files: map[string]string{"d/f": "old"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.op(workspace.OpDelete, "d", "")} },
			err:   "d is a directory that is not empty",
		}, {
			name:  "delete a tree",
			files: map[string]string{"d/e/f": "old", "d/g": "", "d/l": "-> /etc"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{with(s.op(workspace.OpDelete, "d", ""), func(o *workspace.Op) { o.Recursive = true })}
			},
			want: map[string]string{},
		}, {
			name:  "move",
			files: map[string]string{"f": "old"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.op(workspace.OpMove, "d/g", "f")} },
			want:  map[string]string{"d/": "", "d/g": "old"},
		}, {
			name:  "move onto a file",
			files: map[string]string{"f": "old", "g": "stays"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.op(workspace.OpMove, "g", "f")} },
			err:   "g exists",
		}, {
			name:  "move over a file",
			files: map[string]string{"f": "old", "g": "goes"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{with(s.op(workspace.OpMove, "g", "f"), func(o *workspace.Op) { o.Overwrite = true })}
			},
			want: map[string]string{"g": "old"},
		}, {
			name:  "move a tree over a tree",
			files: map[string]string{"d/f": "old", "e/g": "goes"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{with(s.op(workspace.OpMove, "e", "d"), func(o *workspace.Op) { o.Overwrite = true })}
			},
			want: map[string]string{"e/": "", "e/f": "old"},
		}, {
			name:  "move into itself",
			files: map[string]string{"d/f": "old"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.op(workspace.OpMove, "d/e", "d")} },
			err:   "d/e is d itself or is in it",
		}, {
			name:  "copy a tree",
			files: map[string]string{"d/e/f": "old", "d/l": "-> e"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.op(workspace.OpCopy, "c", "d")} },
			want: map[string]string{
				"d/": "", "d/e/": "", "d/e/f": "old", "d/l": "-> e", "c/": "", "c/e/": "", "c/e/f": "old", "c/l": "-> e",
			},
		}, {
			name: "make a directory, and a file in it",
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{s.op(workspace.OpDirectory, "d/e", ""), s.write("d/e/f", "x")}
			},
			want: map[string]string{"d/": "", "d/e/": "", "d/e/f": "x"},
		}, {
			name: "a link",
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{with(s.op(workspace.OpSymlink, "l", ""), func(o *workspace.Op) { o.Data = []byte("d/e") })}
			},
			want: map[string]string{"l": "-> d/e"},
		}, {
			name:  "a write that moves",
			files: map[string]string{"f": "old"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{with(s.write("d/g", "new"), func(o *workspace.Op) { o.From = s.path("f") })}
			},
			want: map[string]string{"d/": "", "d/g": "new"},
		}, {
			name:  "many at once",
			files: map[string]string{"f": "1", "g": "2", "h": "3"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{s.write("f", "one"), s.op(workspace.OpDelete, "g", ""), s.op(workspace.OpMove, "i", "h"), s.write("d/j", "4")}
			},
			want: map[string]string{"f": "one", "i": "3", "d/": "", "d/j": "4"},
		}, {
			name:  "all or nothing",
			files: map[string]string{"f": "1", "g": "2"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{s.write("d/j", "4"), s.write("f", "one"), s.op(workspace.OpMove, "g", "f/x")}
			},
			err: "f is a file, not a directory",
		}, {
			name:  "one path twice",
			files: map[string]string{"f": "1", "l": "-> f"},
			ops: func(s *stage) []workspace.Op {
				return []workspace.Op{s.write("f", "one"), s.write("l", "two")}
			},
			err: "l is named twice in one change, also as f",
		}, {
			name: "protected",
			ops:  func(s *stage) []workspace.Op { return []workspace.Op{s.write(".git/hooks/pre-commit", "x")} },
			err:  ".git/hooks/pre-commit is protected, since programs run or obey it",
		}, {
			name:  "protected by a link",
			files: map[string]string{".git/config": "x", "harmless": "-> .git"},
			ops:   func(s *stage) []workspace.Op { return []workspace.Op{s.write("harmless/config", "x")} },
			err:   "harmless/config is protected, since programs run or obey it",
		}, {
			name: "the root",
			ops:  func(s *stage) []workspace.Op { return []workspace.Op{s.op(workspace.OpDelete, ".", "")} },
			err:  ". is a root of the workspace, which stays as it is",
		}} {
			t.Run(backend+"/"+test.name, func(t *testing.T) {
				s := newStage(t, test.files, workspace.Options{Portable: backend == "os.Root"})
				before := s.tree()
				ops := test.ops(s)
				dry, dryErr := s.Apply(t.Context(), workspace.Change{Tool: "test", Ops: ops, DryRun: true})
				if diff := cmp.Diff(before, s.tree()); diff != "" {
					t.Fatalf("a dry run changed the tree:\n%s", diff)
				}
				done, err := s.Apply(t.Context(), workspace.Change{Tool: "test", Ops: ops})
				if test.want == nil {
					if err == nil || err.Error() != test.err {
						t.Errorf("error %v, want %q", err, test.err)
					}
					test.want = before
				} else if err != nil || dryErr != nil {
					t.Fatalf("error %v, of the dry run %v", err, dryErr)
				}
				if len(done.Done) != len(dry.Done) {
					t.Errorf("%d operations done, %d in the dry run", len(done.Done), len(dry.Done))
				}
				if diff := cmp.Diff(test.want, s.tree()); diff != "" {
					t.Errorf("tree (-want +got):\n%s", diff)
				}
				list, _, err := s.History(t.Context(), workspace.HistoryQuery{})
				check(t, err)
				if want := len(done.Done) > 0; want != (len(list) == 1) {
					t.Errorf("history has %d changes", len(list))
				}
			})
		}
	}
}

func TestApplyKeepsAttributes(t *testing.T) {
	s := newStage(t, map[string]string{"f": "old"}, workspace.Options{})
	host := filepath.Join(s.dir, "f")
	check(t, os.Chmod(host, 0o640))
	check(t, os.Link(host, filepath.Join(s.dir, "g")))
	done, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{s.write("f", "new")}})
	check(t, err)
	info, err := os.Stat(host)
	check(t, err)
	if info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	if got := s.tree()["g"]; got != "old" {
		t.Errorf("the other hard link holds %q", got)
	}
	if notes := done.Done[0].Notes; len(notes) != 1 || !strings.Contains(notes[0], "2 hard links") {
		t.Errorf("notes %q", notes)
	}
}

func TestApplySeesForeignWrites(t *testing.T) {
	s := newStage(t, map[string]string{"f": "0"}, workspace.Options{})
	host := filepath.Join(s.dir, "f")
	tries := 0
	op := s.write("f", "")
	op.New = func(old workspace.Old) ([]byte, error) {
		tries++
		if tries < 3 { // another program writes after the content was read
			check(t, os.WriteFile(host, fmt.Appendf(nil, "%d", tries), 0o644))
		}
		return append(old.Data, '!'), nil
	}
	_, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}})
	check(t, err)
	if got := s.tree()["f"]; got != "2!" || tries != 3 {
		t.Errorf("%q after %d tries", got, tries)
	}
	op.Expect.Hash = hash("2!")
	op.New = func(old workspace.Old) ([]byte, error) {
		return []byte("mine"), os.WriteFile(host, []byte("theirs"), 0o644)
	}
	_, err = s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}})
	conflict, ok := errors.AsType[*workspace.ConflictError](err)
	if !ok || string(conflict.Old.Data) != "theirs" {
		t.Errorf("error %v, want a conflict that shows theirs", err)
	}
	if diff := cmp.Diff(map[string]string{"f": "theirs"}, s.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestApplyWithoutState(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o644))
	ws, err := workspace.Open([]string{dir}, workspace.Options{})
	check(t, err)
	s := &stage{ws, t, dir}
	done, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{s.write("f", "new"), s.write("g", "new")}})
	check(t, err)
	if done.NotKept == "" || done.ID != "" {
		t.Errorf("%+v", done)
	}
	if diff := cmp.Diff(map[string]string{"f": "new", "g": "new"}, s.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestApplyCancelled(t *testing.T) {
	s := newStage(t, map[string]string{"f": "old"}, workspace.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	op := s.write("f", "new")
	op.New = func(workspace.Old) ([]byte, error) {
		cancel()
		return []byte("new"), nil
	}
	if _, err := s.Apply(ctx, workspace.Change{Ops: []workspace.Op{op}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := s.tree()["f"]; got != "old" {
		t.Errorf("f holds %q", got)
	}
}
