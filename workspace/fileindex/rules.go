package fileindex

import (
	"cmp"
	"hash/maphash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolcrib/workspace/ignore"
	"toolcrib/workspace/internal/fsys"
)

// dirRules are the ignore files of one directory of an index.
type dirRules struct {
	have    ruleFiles
	files   ignore.Files
	bad     []string   // those that had to be ignored, below the directory
	outside []hostFile // the files elsewhere that the rules depend on
	// excludes is the core.excludesFile of the repository that begins here; "" = none.
	excludes string
	sum      uint64 // over all rules
	stamps   []fsys.Stamp
}

// hostFile is a file that rules depend on.
type hostFile struct {
	name   string // on the host
	exists bool   // only whether it exists counts
}

func (f hostFile) stamp(now time.Time) fsys.Stamp {
	s := fsys.StampOfHost(f.name, now)
	if f.exists && s.Sign != 0 {
		return fsys.Stamp{Sign: 1}
	}
	return s
}

// sameStamps reports whether no stamped file has changed.
func sameStamps(before, now []fsys.Stamp) bool {
	return slices.EqualFunc(before, now, func(b, n fsys.Stamp) bool { return b.Sign == n.Sign && !b.Fresh })
}

// ruleName reports whether an entry may hold rules.
func ruleName(name string) bool {
	return name == ".ignore" || name == ".gitignore" || name == ".git"
}

// ruleSeed makes the sums of one process comparable.
var ruleSeed = maphash.MakeSeed()

// enter brings the rules of a directory, which has the entries list, up to date. It
// reports whether they may have changed.
func (t *Index) enter(w reading, h fsys.Dir, list []fsys.DirEntry) bool {
	d := w.dir
	var have ruleFiles
	for _, e := range list {
		if e.Name[0] == '.' {
			have.set(e.Name, e.Kind)
		}
	}
	if have == (ruleFiles{}) {
		return t.forgetRules(d)
	}
	if d.rules != nil && d.rules.have == have {
		told := false
		for name := range w.names {
			told = told || ruleName(name)
		}
		if !told && (t.watch != nil && !w.all || sameStamps(d.rules.stamps, d.rules.look(h, "", time.Now()))) {
			return false
		}
	}
	host := path.Join(t.start.Canonical(), d.path)
	r := &dirRules{have: have}
	if have.git != "" && have.git != fsys.KindDirectory {
		r.outside = linkedFiles(host, have.git)
	}
	var reader ruleReader
	for range 2 { // at first it is not known which file the configuration names
		r.stamps = r.look(h, "", time.Now()) // before the files are read
		reader = ruleReader{}
		reader.sum.SetSeed(ruleSeed)
		if r.files = reader.files(h, have, ".", host); r.excludes == reader.excludes {
			break
		}
		r.excludes = reader.excludes
	}
	r.bad, r.sum = reader.bad, reader.sum.Sum64()
	if have.git != "" || slices.ContainsFunc(r.stamps, func(s fsys.Stamp) bool { return s.Links > 1 }) {
		t.tops[d] = struct{}{}
	} else {
		delete(t.tops, d)
	}
	old := d.rules
	d.rules = r
	return old == nil || old.have != have || old.sum != r.sum || !slices.Equal(old.bad, r.bad)
}

// forgetRules reports whether there were any.
func (t *Index) forgetRules(d *directory) bool {
	had := d.rules != nil
	d.rules = nil
	delete(t.tops, d)
	return had
}

// levelOf returns the rules in force in a directory.
func (t *Index) levelOf(d *directory) *ignore.Level {
	var files ignore.Files
	if d.rules != nil {
		files = d.rules.files
	}
	if d.parent == nil {
		name := path.Base(t.start.Canonical())
		return t.outer.level.Enter(name, files)
	}
	return d.parent.level.Enter(d.name(), files)
}

// look stamps the files with the rules of the directory that is prefix below h, which is ""
// or ends in a slash.
func (r *dirRules) look(h fsys.Dir, prefix string, now time.Time) []fsys.Stamp {
	var stamps []fsys.Stamp
	add := func(kind fsys.Kind, name string) {
		if kind != "" {
			stamps = append(stamps, fsys.StampOf(h, prefix+name, now))
		}
	}
	add(r.have.dotIgnore, ".ignore")
	add(r.have.gitIgnore, ".gitignore")
	switch r.have.git {
	case fsys.KindDirectory:
		add(r.have.git, ".git/info/exclude")
		add(r.have.git, ".git/config")
	default:
		add(r.have.git, ".git")
	}
	if r.excludes != "" {
		add(r.have.git, r.excludes)
	}
	for _, f := range r.outside {
		stamps = append(stamps, f.stamp(now))
	}
	return stamps
}

// linkedFiles are the files that decide on the exclude files of a directory whose .git
// leads to a git directory elsewhere, see linkedGitDir.
func linkedFiles(host string, kind fsys.Kind) []hostFile {
	name := path.Join(host, ".git")
	if kind != fsys.KindSymlink {
		text, err := readHost(filepath.FromSlash(name))
		gitdir, ok := strings.CutPrefix(string(text), "gitdir:")
		if err != nil || !ok {
			return nil
		}
		name = joinHost(host, strings.TrimSpace(gitdir))
	}
	if real, err := filepath.EvalSymlinks(filepath.FromSlash(name)); err == nil {
		name = filepath.ToSlash(real)
	}
	files := []hostFile{{name: name + "/HEAD", exists: true}, {name: name + "/info/exclude"}, {name: name + "/config"}}
	if above := path.Dir(name); path.Base(above) == "worktrees" {
		git := path.Dir(above)
		files = append(files, hostFile{name: git + "/HEAD", exists: true}, hostFile{name: git + "/info/exclude"}, hostFile{name: git + "/config"})
	}
	return files
}

// outerRules are the rules from outside of an index.
type outerRules struct {
	level      *ignore.Level
	unreadable []string // in the words of Walk
	dotIgnore  bool     // an .ignore file above the root of the workspace counts
	files      []hostFile
	stamps     []fsys.Stamp
}

// readOuter reads the rules from outside.
func (t *Index) readOuter() outerRules {
	var o outerRules
	o.files = append(t.globalFiles(), t.filesAbove()...)
	o.stamps = o.look(time.Now())
	w := &walker{start: t.start, opt: WalkOptions{Getenv: t.opt.hooks.getenv}, root: &walkDir{handle: t.self}}
	o.level = w.levelAbove()
	o.unreadable = w.stats.Unreadable
	for _, host := range repositoryAbove(t.start.RootCanonical()) {
		if _, err := os.Lstat(path.Join(host, ".ignore")); err == nil {
			o.dotIgnore = true
		}
	}
	return o
}

func (o *outerRules) look(now time.Time) []fsys.Stamp {
	stamps := make([]fsys.Stamp, len(o.files))
	for i, f := range o.files {
		stamps[i] = f.stamp(now)
	}
	return stamps
}

// changed reports whether the rules from outside may have changed.
func (o *outerRules) changed() bool { return !sameStamps(o.stamps, o.look(time.Now())) }

// globalFiles are the files that ruleReader.global may read.
func (t *Index) globalFiles() []hostFile {
	getenv := t.opt.hooks.getenv
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	config := getenv("XDG_CONFIG_HOME")
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	var names []string
	if one := getenv("GIT_CONFIG_GLOBAL"); one != "" {
		names = append(names, one)
	} else {
		if config != "" {
			names = append(names, filepath.Join(config, "git", "config"))
		}
		if home != "" {
			names = append(names, filepath.Join(home, ".gitconfig"))
		}
	}
	for _, name := range names {
		text, err := readHost(name)
		if err != nil {
			continue
		}
		if value, ok := ignore.ExcludesFile(text); ok {
			if rest, ok := strings.CutPrefix(value, "~/"); ok {
				value = filepath.Join(home, rest)
			}
			if filepath.IsAbs(value) {
				names = append(names, value)
			}
		}
	}
	if config != "" {
		names = append(names, filepath.Join(config, "git", "ignore"))
	}
	files := make([]hostFile, len(names))
	for i, name := range names {
		files[i] = hostFile{name: filepath.ToSlash(name)}
	}
	return files
}

// filesAbove are the ignore files of the directories above the index's, and the files that
// decide which of them count.
func (t *Index) filesAbove() []hostFile {
	root := t.start.RootCanonical()
	own := hostFile{name: path.Join(root, t.start.Rel(), ".git"), exists: true}
	files := []hostFile{own}
	top := own.stamp(time.Now()).Sign != 0
	for at := range dirsAbove(t.start.Rel()) {
		host := path.Join(root, at)
		files = append(files, rulesIn(host)...)
		top = top || hostFile{name: host + "/.git"}.stamp(time.Now()).Sign != 0
	}
	if top {
		return files
	}
	for at := root; path.Dir(at) != at; {
		at = path.Dir(at)
		files = append(files, hostFile{name: path.Join(at, ".git"), exists: true})
	}
	for _, host := range repositoryAbove(root) {
		files = append(files, rulesIn(host)...)
	}
	return files
}

// rulesIn are the ignore files of a directory on the host.
func rulesIn(host string) []hostFile {
	git := path.Join(host, ".git")
	files := []hostFile{{name: path.Join(host, ".ignore")}, {name: path.Join(host, ".gitignore")}}
	fi, err := os.Lstat(filepath.FromSlash(git))
	if err != nil || fi.IsDir() {
		files = append(files, hostFile{name: git, exists: true}, hostFile{name: git + "/info/exclude"}, hostFile{name: git + "/config"})
	} else {
		files = append(files, hostFile{name: git})
		files = append(files, linkedFiles(host, fsys.KindOf(fi.Mode()))...)
	}
	for _, f := range files {
		if path.Base(f.name) != "config" {
			continue
		}
		text, err := readHost(filepath.FromSlash(f.name))
		if name, _, elsewhere := excludesFile(text, host); err == nil && name != "" && !elsewhere {
			files = append(files, hostFile{name: path.Join(host, name)})
		}
	}
	return files
}
