package fileindex_test

import (
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"testing"

	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/ignore"
)

// randomTree makes a tree of n directories with files, hidden entries, links to
// directories and .ignore files. The names sort in other ways as strings than as
// paths.
func randomTree(t *testing.T, g *rand.Rand, n int) string {
	t.Helper()
	names := []string{"a", "a-b", "a.b", "ab", "b", "B", ".h", "é", "~", "zz", "a b", "-"}
	name := func() string {
		s := names[g.IntN(len(names))]
		if g.IntN(2) == 0 {
			s += names[g.IntN(len(names))]
		}
		return s
	}
	dirs := []string{""}
	f := layout{}
	for len(dirs) < n {
		above := dirs[len(dirs)-1-g.IntN(min(len(dirs), 8))]
		dir := above + name() + "d/" // no name of a file
		if _, ok := f[dir]; ok {
			continue
		}
		f[dir] = ""
		dirs = append(dirs, dir)
		for range g.IntN(4) {
			f[dir+name()] = ""
		}
		switch g.IntN(12) {
		case 0:
			f[dir+".ignore"] = name() + "\n" + name() + "d/\n"
		case 1:
			f[dir+name()+"l"] = "-> ."
		}
	}
	dir := realTempDir(t)
	f.write(t, dir)
	return dir
}

// slowWalk is Walk for such a tree, one directory after the other and without
// FollowLinks.
func slowWalk(t *testing.T, dir string, opt fileindex.WalkOptions) (want []string, stats fileindex.WalkStats) {
	t.Helper()
	var visit func(rel string, depth int, level *ignore.Level)
	visit = func(rel string, depth int, level *ignore.Level) {
		stats.Directories++
		list, err := os.ReadDir(filepath.Join(dir, rel))
		if err != nil {
			t.Fatal(err)
		}
		var f ignore.Files
		if text, err := os.ReadFile(filepath.Join(dir, rel, ".ignore")); err == nil && !opt.IncludeIgnored {
			f.DotIgnore = ignore.Parse(text)
		}
		level = level.Enter(path.Base(rel), f)
		for _, e := range list {
			at := path.Join(rel, e.Name())
			switch {
			case e.Name()[0] == '.' && !opt.Hidden:
				stats.Hidden++
			case level.Ignored(e.Name(), e.IsDir()):
				stats.Ignored++
			case !e.IsDir() && e.Type()&os.ModeSymlink != 0:
				want = append(want, at+" symlink")
			case !e.IsDir():
				want = append(want, at)
			default:
				if opt.Directories {
					want = append(want, at+" directory")
				}
				if (opt.MaxDepth == 0 || depth+1 < opt.MaxDepth) && (opt.SkipDir == nil || !opt.SkipDir(at)) {
					visit(at, depth+1, level)
				}
			}
		}
	}
	visit("", 0, ignore.NewLevel(nil))
	return want, stats
}
