package files_test

import (
	"path/filepath"
	"testing"

	"toolcrib/workspace"
)

// relocateRefuses checks what moving and copying refuse alike, and that they change nothing
// then.
func relocateRefuses(t *testing.T, tool string) {
	t.Helper()
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
		b := newBench(t, tree)
		b.want(c.want, b.call(tool, args{"source": c.source, "destination": c.destination, "overwrite": c.overwrite}))
		b.tree(tree)
	}
}

// relocateAsks checks that a tool replaces a directory only after the user was asked, if
// that cannot be undone.
func relocateAsks(t *testing.T, tool, verb string) {
	t.Helper()
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
		want := c.want
		if want != "" {
			want = verb + want
		}
		if got := b.question(tool, args{"source": c.source, "destination": c.destination, "overwrite": c.overwrite}); got != want {
			t.Errorf("%s %s: asks %q, want %q", c.source, c.destination, got, want)
		}
	}
}
