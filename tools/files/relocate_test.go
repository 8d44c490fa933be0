package files_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/workspace"
)

// Moving and copying refuse alike, and change nothing then.
func TestRelocateRefusals(t *testing.T) {
	tree := map[string]string{
		"a.txt": "a\n", "b.txt": "b\n", "docs/x.md": "x\n", "docs/a.txt": "other\n", "empty/": "",
		"link": "-> a.txt", "dirlink": "-> docs", "dangling": "-> nothing", ".git/hooks/pre-commit": "#!/bin/sh\n",
	}
	for _, c := range []struct {
		source, destination string
		overwrite           bool
		want                string
	}{
		{"none.txt", "c.txt", false, "error: not_found: none.txt does not exist …"},
		{"a.txt", "b.txt", false, "error: already_exists: b.txt exists (overwrite=true replaces it; the history keeps its content)"},
		{"a.txt", "docs", false, `error: already_exists: docs exists (it is a directory; destination="docs/a.txt" puts it inside)`},
		{"a.txt", "dirlink", false, `error: already_exists: dirlink exists (it is a directory; destination="dirlink/a.txt" puts it inside)`},
		{"a.txt", "dangling", false, "error: already_exists: dangling exists …"},
		{"a.txt", "docs", true, `error: invalid_argument: docs is a directory, which a file does not replace (destination="docs/a.txt" puts it there)`},
		{"a.txt", "new/", false, `error: invalid_argument: destination: new/ names a directory (destination="new/a.txt" puts it there)`},
		{"docs", "a.txt", true, "error: invalid_argument: a.txt is no directory, and a directory replaces only a directory …"},
		{"a.txt", "a.txt", true, "error: invalid_argument: source and destination are both a.txt …"},
		{"a.txt", "a.txt", false, "error: invalid_argument: source and destination are both a.txt …"},
		{"docs", "docs/in/it", false, "error: invalid_argument: docs/in/it is docs itself or is in it…"},
		{"docs", "dirlink/in", false, "error: invalid_argument: dirlink/in is docs itself or is in it…"},
		{"docs/a.txt", "docs", true, "error: invalid_argument: docs is a directory, which a file does not replace …"},
		{"dirlink/", "other", false, `error: invalid_argument: dirlink/ leads to the directory by a symlink (path "dirlink" is the link itself, "docs" what it leads to)`},
		{"a.txt", "b.txt/c", false, "error: …"},
		{"a.txt", ".git/hooks/post-commit", false, "error: denied: .git/hooks/post-commit is protected…"},
		{".", "x", false, "error: invalid_argument: …"},
		{"a.txt", "./docs/../a.txt", true, "error: invalid_argument: source and destination are both a.txt …"},
		{"../x", "y", false, "error: denied: ../x is outside the workspace …"},
		{"a.txt", "../y", false, "error: denied: ../y is outside the workspace …"},
	} {
		for _, tool := range []string{"move_path", "copy_path"} {
			b := newBench(t, tree)
			b.want(c.want, b.call(tool, args{"source": c.source, "destination": c.destination, "overwrite": c.overwrite}))
			b.tree(tree)
		}
	}
}

func TestMove(t *testing.T) {
	b := newBench(t, map[string]string{
		"a.txt": "a\n", "b.txt": "b\n", "link": "-> a.txt", "README": "r\n",
		"old/x": "1\n", "old/.hidden": "2\n", "old/none/": "", "new/y": "3\n",
	})
	b.want("link -> sub/l: moved, a symlink; change …; undo: restore_file undo=true", b.call("move_path", args{"source": "link", "destination": "sub/l"}))
	b.want("README -> readme: moved, 2 B; change …", strings.TrimSuffix(b.call("move_path", args{"source": "README", "destination": "readme"}), "; undo: restore_file undo=true"))
	b.want("a.txt -> b.txt: moved, 2 B, replacing a file; change …", b.call("move_path", args{"from": "a.txt", "to": "b.txt", "overwrite": true}))
	b.want("old -> new: moved, 2 files, replacing a directory; change …", b.call("move_path", args{"source": "old", "destination": "new", "overwrite": true}))
	b.tree(map[string]string{
		"b.txt": "a\n", "readme": "r\n", "sub/l": "-> a.txt", "new/x": "1\n", "new/.hidden": "2\n", "new/none/": "",
	})
	b.want("undid … move_path: …\nnew/ -> old: moved back\nnew/: made again\nnew/y: restored, 2 B", strings.ReplaceAll(b.call("restore_file", args{"undo": true}), "new -> old", "new/ -> old"))
}

func TestMoveExpected(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n", "d/": ""})
	sum := sha256.Sum256([]byte("a\n"))
	hash := hex.EncodeToString(sum[:])
	b.host("a.txt", "changed\n")
	b.want("error: conflict: a.txt is not what expected_hash names: …\n...", b.call("move_path", args{"source": "a.txt", "destination": "b.txt", "expected_hash": hash}))
	b.want("error: invalid_argument: d is a directory, and expected_hash is that of a file …", b.call("move_path", args{"source": "d", "destination": "e", "expected_hash": hash}))
	b.tree(map[string]string{"a.txt": "changed\n", "d/": ""})
	b.host("a.txt", "a\n")
	b.want("a.txt -> b.txt: moved, …", b.call("move_path", args{"source": "a.txt", "destination": "b.txt", "expected_hash": hash}))
	b.want("b.txt -> c.txt: moved, …", b.call("move_path", args{"source": "b.txt", "destination": "c.txt", "expected_hash": hash[:12]}))
	b.want("error: conflict: …\n...", b.call("delete_path", args{"path": "c.txt", "expected_hash": strings.Repeat("0", 12)}))
	b.want("c.txt: deleted, …", b.call("delete_path", args{"path": "c.txt", "expected_hash": hash[:12]}))
}

func TestCopy(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "#!/bin/sh\n", "lib/a": "1\n", "lib/l": "-> a", "lib/none/": "", "link": "-> run.sh", "to/x": "9\n"})
	if err := os.Chmod(filepath.Join(b.dir, "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	b.want("run.sh -> bin/run: copied, 10 B; change …; undo: restore_file undo=true", b.call("copy_path", args{"source": "run.sh", "destination": "bin/run"}))
	info, err := os.Stat(filepath.Join(b.dir, "bin/run"))
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the copy: %v, %v", info, err)
	}
	b.want("link -> link2: copied, a symlink; change …", b.call("copy_path", args{"source": "link", "destination": "link2"}))
	b.want("lib -> to: copied, 2 files, replacing a directory; change …", b.call("copy_path", args{"source": "lib", "destination": "to", "overwrite": true}))
	b.tree(map[string]string{
		"run.sh": "#!/bin/sh\n", "bin/run": "#!/bin/sh\n", "link": "-> run.sh", "link2": "-> run.sh",
		"lib/a": "1\n", "lib/l": "-> a", "lib/none/": "", "to/a": "1\n", "to/l": "-> a", "to/none/": "",
	})
}

// A directory is replaced only after the user was asked, if that cannot be undone.
func TestRelocateAsks(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "d/x": "1\n", "full/.y": "12345\n", "full/z/w": "1\n", "empty/": "", "large/": ""})
	large(t, filepath.Join(b.dir, "large"), workspace.MaxKept+1)
	for _, c := range []struct {
		source, destination string
		overwrite           bool
		want                string
	}{
		{"d", "full", true, ""},
		{"d", "large", true, " d to large, replacing that directory with 1 file (67 MB); the history does not keep 1 file above 67 MB, which cannot come back, such as large/big.log"},
		{"d", "full", false, ""},
		{"d", "empty", true, ""},
		{"d", "none", true, ""},
		{"a.txt", "b.txt", true, ""},
	} {
		for tool, verb := range map[string]string{"move_path": "move", "copy_path": "copy"} {
			want := c.want
			if want != "" {
				want = verb + want
			}
			if got := b.question(tool, args{"source": c.source, "destination": c.destination, "overwrite": c.overwrite}); got != want {
				t.Errorf("%s %s %s: asks %q, want %q", tool, c.source, c.destination, got, want)
			}
		}
	}
}
