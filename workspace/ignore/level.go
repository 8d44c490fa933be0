package ignore

import (
	"cmp"
	"slices"
	"strings"
)

// Level is the rules in force in one directory: those of its own ignore files and
// of the directories above. It is immutable and may be shared by goroutines.
type Level struct {
	global *Rules
	inGit  bool
	files  []levelFile // the one that decides first comes first
}

// levelFile is an ignore file as it is seen from a directory at or below its own.
type levelFile struct {
	rules *Rules
	git   bool // of git, hence bounded by the repository
	// dir is the path from the file's directory to this one, "" or ending in a
	// slash. It is kept up to date only while paths is not empty.
	dir string
	// paths are the rules of rules.paths that can still match here or below, the
	// last line first.
	paths []*globRule
}

// Files are the ignore files of one directory, nil if there is none.
type Files struct {
	DotIgnore *Rules // .ignore
	GitIgnore *Rules // .gitignore
	// Top says that the directory has an entry .git: a repository begins here.
	Top bool
	// Exclude is the repository's info/exclude, and Global the global file that it has in
	// the place of the user's. They count only with Top.
	Exclude, Global *Rules
}

// NewLevel returns the level above all directories. global is the user's global
// file, nil if there is none.
func NewLevel(global *Rules) *Level { return &Level{global: global} }

// Enter returns the level of the directory called name in the directory of l. The
// name of the first directory entered, which no rule sees, does not matter.
func (l *Level) Enter(name string, f Files) *Level {
	changed := f.DotIgnore != nil || f.GitIgnore != nil || f.Top
	above := l.files
	if !changed {
		i := slices.IndexFunc(above, func(lf levelFile) bool { return len(lf.paths) > 0 })
		if i < 0 {
			return l
		}
	}
	child := &Level{global: l.global, inGit: l.inGit || f.Top, files: make([]levelFile, 0, len(above)+4)}
	child.push(f.DotIgnore, false)
	git := slices.IndexFunc(above, func(lf levelFile) bool { return lf.git })
	if git < 0 {
		git = len(above)
	}
	for i := range above[:git] {
		child.files = append(child.files, above[i].enter(name))
	}
	if child.inGit {
		child.push(f.GitIgnore, true)
	}
	if f.Top {
		child.push(f.Exclude, true)
		child.push(cmp.Or(f.Global, l.global), true)
		return child
	}
	for i := range above[git:] {
		child.files = append(child.files, above[git+i].enter(name))
	}
	return child
}

// push appends a file whose directory is that of l.
func (l *Level) push(r *Rules, git bool) {
	if r != nil && len(r.negated) > 0 {
		l.files = append(l.files, levelFile{rules: r, git: git, paths: r.paths})
	}
}

// enter returns the file as it is seen one directory further down.
func (f *levelFile) enter(name string) levelFile {
	child := levelFile{rules: f.rules, git: f.git}
	if len(f.paths) == 0 {
		return child
	}
	child.dir = f.dir + name + "/"
	for _, rule := range f.paths {
		if rule.glob.mayMatchBelow(child.dir) {
			child.paths = append(child.paths, rule)
		}
	}
	return child
}

// mayMatchBelow reports false only if nothing that begins with dir can match.
func (g *glob) mayMatchBelow(dir string) bool {
	if g.slashes != anySlashes && g.slashes < strings.Count(dir, "/") {
		return false
	}
	n := min(len(dir), len(g.prefix))
	return dir[:n] == g.prefix[:n]
}

// Ignored reports whether the rules leave out the entry called name of the directory.
// isDir says that it is a directory; a symlink is none, even if it leads to one,
// unless the caller enters it. The directory itself counts as not ignored.
func (l *Level) Ignored(name string, isDir bool) bool {
	if name == "" {
		return false
	}
	for i := range l.files {
		f := &l.files[i]
		if line := f.match(name, isDir); line != none {
			return !f.rules.negated[line]
		}
	}
	return false
}

// match returns the last line that matches, or none.
func (f *levelFile) match(name string, isDir bool) int {
	best := f.rules.matchName(name, isDir)
	path := ""
	for _, rule := range f.paths {
		if rule.line <= best {
			break
		}
		if rule.dirOnly && !isDir || !rule.glob.mayMatchIn(f.dir, name) {
			continue
		}
		if path == "" {
			path = f.dir + name
		}
		if rule.glob.match(path) {
			return rule.line
		}
	}
	return best
}

// mayMatchIn reports false only if dir+name cannot match. For most rules it saves making
// that path.
func (g *glob) mayMatchIn(dir, name string) bool {
	if n := len(dir); len(g.prefix) > n {
		tail := g.prefix[n:]
		if g.literal() {
			return name == tail
		}
		if !strings.HasPrefix(name, tail) {
			return false
		}
	}
	i := strings.LastIndexByte(g.suffix, '/')
	if i >= 0 { // all of the last component is literal
		return name == g.suffix[i+1:]
	}
	return strings.HasSuffix(name, g.suffix)
}
