package tooltest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sentinel is the content, and a part of the name, of files outside the roots. No result
// and no error may show it, its hash or its size.
const sentinel = "OUTSIDE-SENTINEL-7f3a"

// vector is a path that leaves the roots, names a special file, or looks like that. An
// entry is inside the workspace, such as a link itself: a tool that changes the entry and
// not its target may accept it.
type vector struct {
	name, path string
	entry      bool
}

// surround puts secrets next to the workspace dir.
func surround(t *testing.T, dir string) {
	t.Helper()
	parent := filepath.Dir(dir)
	for _, d := range []string{filepath.Join(parent, "out"), dir + "-evil"} {
		must(t, os.MkdirAll(filepath.Join(d, "sub"), 0o755))
		must(t, os.WriteFile(filepath.Join(d, "secret"), []byte(sentinel), 0o644))
		must(t, os.WriteFile(filepath.Join(d, "sub", "secret"), []byte(sentinel), 0o644))
		must(t, os.WriteFile(filepath.Join(d, sentinel+".txt"), nil, 0o644))
	}
	must(t, os.WriteFile(filepath.Join(parent, sentinel+".txt"), nil, 0o644))
}

// plant puts links and special files into the workspace dir and returns the paths to them.
func plant(t *testing.T, dir string) []vector {
	t.Helper()
	out, twin := filepath.Join(filepath.Dir(dir), "out"), dir+"-evil"
	links := map[string]string{
		"rel_out":     "../out/secret",
		"abs_out":     filepath.Join(out, "secret"),
		"dir_out":     "../out",
		"absdir_out":  out,
		"twin_out":    "../" + filepath.Base(twin),
		"chain_1":     "chain_2",
		"chain_2":     "dir_out",
		"loop_a":      "loop_b",
		"loop_b":      "loop_a",
		"self":        "self",
		"root_link":   "/",
		"proc_root":   "/proc/self/root/etc/hostname",
		"proc_cwd":    "/proc/self/cwd",
		"proc_fd":     "/proc/self/fd/0",
		"dev_zero":    "/dev/zero",
		"dangling":    "../out/nothing",
		"parent_link": "..",
	}
	for name, target := range links {
		must(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	vs := refused(out, twin, dir)
	for _, e := range [...][2]string{
		{"percent encoded", "%2e%2e/out/secret"},
		{"overlong UTF-8", "\xc0\xae\xc0\xae/out/secret"},
		{"backslashes", `..\out\secret`},
		{"home", "~/secret"},
		{"home of a user", "~root/secret"},
		{"variable", "$HOME/secret"},
		{"out of a linked directory", "dir_out/../out/secret"},
	} {
		vs = append(vs, vector{e[0], e[1], true})
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		vs = append(vs, vector{"link " + name, name, true})
	}
	return append(vs, special(t, dir)...)
}

// refused are the paths that name nothing inside the workspace.
func refused(out, twin, dir string) []vector {
	var vs []vector
	for _, e := range [...][2]string{
		{"dot dot", "../out/secret"},
		{"deep dot dot", "a/b/../../../out/secret"},
		{"dot dot only", ".."},
		{"absolute outside", filepath.Join(out, "secret")},
		{"absolute through the root", dir + "/../out/secret"},
		{"sibling with the root's name as prefix", twin + "/secret"},
		{"relative sibling", "../" + filepath.Base(twin) + "/secret"},
		{"system file", "/etc/passwd"},
		{"system root", "/"},
		{"double slash", "//" + strings.TrimPrefix(out, "/") + "/secret"},
		{"procfs", "/proc/self/environ"},
		{"procfs memory", "/proc/self/mem"},
		{"device", "/dev/zero"},
		{"NUL", "a\x00../../out/secret"},
		{"only NUL", "\x00"},
		{"trailing slash on a link to a file", "rel_out/"},
		{"below a link to a directory", "dir_out/secret"},
		{"below an absolute link", "absdir_out/secret"},
		{"below a link to the twin", "twin_out/secret"},
		{"below a chain", "chain_1/secret"},
		{"below the link to the parent", "parent_link/out/secret"},
		{"below the link to the system root", "root_link/etc/passwd"},
		{"new file below a linked directory", "dir_out/new/deep/file"},
		{"URI", "file://" + filepath.Join(out, "secret")},
		{"too long a name", strings.Repeat("x", 300)},
		{"too long a path", strings.Repeat("x/", 3000) + "f"},
	} {
		vs = append(vs, vector{e[0], e[1], false})
	}
	return vs
}
