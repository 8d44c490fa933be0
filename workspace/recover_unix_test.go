//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
)

// journaled is a step in a journal, whose paths are below the root; of is the file
// whose inode it names.
type journaled struct {
	kind, from, to, backup, of string
	old                        bool // the inode was that of a file that is gone
	size                       int64
	data                       string // of an append
}

// TestRecover has a start find what a process has left at moments that a kill
// seldom meets. In the files, "= name" is another name of a file.
func TestRecover(t *testing.T) {
	const a, b = ".toolcrib-000000000000000a.tmp", ".toolcrib-000000000000000b.tmp"
	for _, test := range []struct {
		name      string
		files     map[string]string
		temps     []string
		dirs      []string
		acts      []journaled
		torn      string // the end of the journal
		committed bool
		want      map[string]string
		finished  bool
	}{{
		name:  "before a directory was made",
		temps: []string{"d/e/" + a},
		dirs:  []string{"d", "d/e"},
		want:  map[string]string{},
	}, {
		name:  "after a directory was made",
		files: map[string]string{"d/e/" + a: "half"},
		temps: []string{"d/e/" + a},
		dirs:  []string{"d", "d/e"},
		want:  map[string]string{},
	}, {
		name:  "in the line that tells what will be done",
		files: map[string]string{"f": "old", a: "new"},
		temps: []string{a},
		torn:  `{"change":"x","acts":[{"kind":"sw`,
		want:  map[string]string{"f": "old"},
	}, {
		name:  "between two steps",
		files: map[string]string{"f": "new", a: "old", "g": "old", b: "new"},
		temps: []string{a, b},
		acts:  []journaled{{kind: "swap", from: a, to: "f", of: "f"}, {kind: "swap", from: b, to: "g", of: b}},
		want:  map[string]string{"f": "old", "g": "old"},
	}, {
		name:  "in a move by steps",
		files: map[string]string{"f": "old", "g": "= f"},
		acts:  []journaled{{kind: "move", from: "f", to: "g", of: "f"}},
		want:  map[string]string{"g": "old"}, finished: true,
	}, {
		name:  "in a move by steps that is not the last",
		files: map[string]string{a: "new", "f": "= " + a, b: "new"},
		temps: []string{a, b},
		acts:  []journaled{{kind: "move", from: a, to: "f", of: a}, {kind: "move", from: b, to: "g", of: b}},
		want:  map[string]string{},
	}, {
		name:  "after a file replaced another that is kept under another name",
		files: map[string]string{"g": "mine", a: "other"},
		temps: []string{a},
		acts:  []journaled{{kind: "over", from: "f", to: "g", backup: a, of: "g"}, {kind: "move", from: "h", to: b, of: "g"}},
		want:  map[string]string{"f": "mine", "g": "other"},
	}, {
		name:  "another file has the inode by now",
		files: map[string]string{"f": "somebody else's", b: "new"},
		temps: []string{a, b},
		acts:  []journaled{{kind: "move", from: a, to: "f", of: "f", old: true}, {kind: "move", from: b, to: "g", of: b}},
		want:  map[string]string{"f": "somebody else's"},
	}, {
		name:  "another file was taken away than the one that was looked at",
		files: map[string]string{a: "theirs", "g": "some file"},
		temps: []string{a},
		acts:  []journaled{{kind: "move", from: "f", to: a, of: "g"}, {kind: "move", from: "h", to: b, of: "g"}},
		want:  map[string]string{"f": "theirs", "g": "some file"},
	}, {
		name:      "a change that the history has forgotten by now",
		files:     map[string]string{"f": "new", a: "old", "g": "new"},
		temps:     []string{a, b},
		acts:      []journaled{{kind: "swap", from: a, to: "f", of: "f"}, {kind: "move", from: b, to: "g", of: "g"}},
		committed: true,
		want:      map[string]string{"f": "new", "g": "new"}, finished: true,
	}, {
		name:  "in an append",
		files: map[string]string{"f": "old\nne"},
		acts:  []journaled{{kind: "append", to: "f", of: "f", size: 4, data: "new\n"}},
		want:  map[string]string{"f": "old\n"},
	}, {
		name:  "after an append that is not all",
		files: map[string]string{"f": "old\nnew\n"},
		acts:  []journaled{{kind: "append", to: "f", of: "f", size: 4, data: "new\n"}, {kind: "move", from: "h", to: b, of: "f"}},
		want:  map[string]string{"f": "old\n"},
	}, {
		name:  "others have appended since",
		files: map[string]string{"f": "old\nnew\ntheirs\n"},
		acts:  []journaled{{kind: "append", to: "f", of: "f", size: 4, data: "new\n"}, {kind: "move", from: "h", to: b, of: "f"}},
		want:  map[string]string{"f": "old\nnew\ntheirs\n"},
	}, {
		name:  "others have appended instead",
		files: map[string]string{"f": "old\nthem"},
		acts:  []journaled{{kind: "append", to: "f", of: "f", size: 4, data: "new line\n"}},
		want:  map[string]string{"f": "old\nthem"},
	}, {
		name:  "somebody has taken the place",
		files: map[string]string{"f": "somebody else's", a: "old"},
		temps: []string{a},
		acts:  []journaled{{kind: "move", from: "f", to: a, of: a}, {kind: "move", from: "h", to: b, of: "f"}},
		want:  map[string]string{"f": "somebody else's"},
	}} {
		t.Run(test.name, func(t *testing.T) {
			names := map[string]string{}
			for name, content := range test.files {
				if !strings.HasPrefix(content, "= ") {
					names[name] = content
				}
			}
			s := newStage(t, names, workspace.Options{StateBase: filepath.Join(t.TempDir(), "state")})
			dir, err := filepath.EvalSymlinks(s.dir)
			check(t, err)
			for name, content := range test.files {
				if target, ok := strings.CutPrefix(content, "= "); ok {
					check(t, os.Link(filepath.Join(dir, target), filepath.Join(dir, name)))
				}
			}
			abs := func(names ...string) (list []string) {
				for _, name := range names {
					list = append(list, filepath.Join(dir, name))
				}
				return list
			}
			lines := []map[string]any{{"begin": map[string]any{
				"change": "x", "record": map[string]any{"id": "x"}, "root": dir, "home": abs("d/e/f")[0], "temps": abs(test.temps...), "dirs": abs(test.dirs...),
			}}}
			if len(test.acts) > 0 {
				var acts []map[string]any
				for _, j := range test.acts {
					info, err := os.Stat(filepath.Join(dir, j.of))
					check(t, err)
					act := map[string]any{
						"kind": j.kind, "from": abs(j.from)[0], "to": abs(j.to)[0],
						"device": info.Sys().(*syscall.Stat_t).Dev, "inode": info.Sys().(*syscall.Stat_t).Ino,
					}
					if j.backup != "" {
						act["backup"] = abs(j.backup)[0]
					}
					if j.data != "" {
						act["size"], act["data"] = j.size, []byte(j.data)
						delete(act, "from")
					}
					if j.old {
						act["time"] = info.ModTime().UnixNano() - 1
					}
					acts = append(acts, act)
				}
				lines = append(lines, map[string]any{"change": "x", "acts": acts})
			}
			if test.committed {
				lines = append(lines, map[string]any{"change": "x", "committed": true})
			}
			leaveJournal(t, s.StateBase(), lines, test.torn)

			done, err := s.Recover(t.Context())
			check(t, err)
			if len(done.Left) > 0 || done.Finished+done.Undone != 1 || test.finished != (done.Finished == 1) {
				t.Errorf("%+v", done)
			}
			if diff := cmp.Diff(test.want, s.tree()); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
			if again, err := s.Recover(t.Context()); err != nil || again.Finished+again.Undone > 0 {
				t.Errorf("the second time: %+v, %v", again, err)
			}
		})
	}
}
