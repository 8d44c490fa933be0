package patch

import (
	"path"
	"strings"
)

var (
	// commandRule is a command of a shell that changes the directory, with the rest of
	// its line.
	commandRule = expression(`(?:^|[;&|("'$])\s*(?:cd|pushd)\s+(.*)`)
	// wordRule is an argument in which a shell changes nothing, and what may follow it.
	wordRule = expression(`^(?:"([^"$\x60\\]+)"|'([^']+)'|([\w./@%+=:,-]+))\s*(?:$|&&|;)(.*)`)
	// elsewhereRule is a command that takes a patch to another directory by an option.
	elsewhereRule = expression(`\b(?:git\s+(?:-C\s*\S+\s+)+apply|(?:git\s+apply|patch)\b.*\s(?:-d\s*\S|--directory[= ]))`)
)

// enterDirectory remembers the directory to which the commands before a patch go: its
// names are of files there.
func (p *parser) enterDirectory(before []line) error {
	for _, l := range before {
		if elsewhereRule().MatchString(l.text) {
			return p.lost(l)
		}
		text := strings.TrimLeft(l.text, " \t")
		for m := commandRule().FindStringSubmatch(text); m != nil; m = commandRule().FindStringSubmatch(text) {
			w := wordRule().FindStringSubmatch(m[1])
			if w == nil || w[3] == "-" || strings.HasPrefix(w[3], "-") {
				return p.lost(l)
			}
			dir := w[1] + w[2] + w[3]
			if !path.IsAbs(dir) {
				dir = path.Join(p.dir, dir)
			}
			p.dir, text = path.Clean(dir), ";"+w[4]
			p.notes.add(0, "its files are taken to be below %s, where the command before it goes", shown(p.dir))
		}
	}
	return nil
}

func (p *parser) lost(l line) error {
	return &Error{
		Line: l.no, Msg: shown(l.text) + " goes to a directory in a way that is not understood here",
		Hint: "send the patch alone, with paths from the workspace's root",
	}
}

// below puts the names of a file below the directory that commands went to.
func (p *parser) below(f *File) {
	for _, name := range []*string{&f.Path, &f.To} {
		if p.dir != "" && *name != "" && !path.IsAbs(*name) {
			*name = p.dir + "/" + *name
		}
	}
}
