package files_test

import "testing"

func TestMakeDirectory(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "a\n", "dir/": "", "link": "-> dir", "dangling": "-> nothing", "out": "-> ../.."})
	for _, c := range []struct{ path, want string }{
		{"dir", "dir: exists"},
		{"dir/", "dir: exists"},
		{"link", "dir: exists"},
		{".", "error: invalid_argument: …"},
		{"a.txt", "error: already_exists: a.txt exists…"},
		{"a.txt/b", "error: …"},
		{"dangling", "error: already_exists: dangling exists…"},
		{"out/x", "error: denied: …"},
		{"link/in/deep", "dir/in/deep: made; change …; undo: restore_file undo=true"},
		{"new/x/", "new/x: made; change …"},
		{".git/hooks", "error: denied: .git/hooks is protected…"},
	} {
		b.want(c.want, b.call("make_directory", args{"path": c.path}))
	}
	b.tree(map[string]string{"a.txt": "a\n", "dir/in/deep/": "", "new/x/": "", "link": "-> dir", "dangling": "-> nothing", "out": "-> ../.."})
}
