package patch

import (
	"path"
	"strings"
)

var (
	// commandRule is a shell command that changes the directory, with the rest of its line.
	commandRule = expression(`(?:^|[;&|("'$])\s*(?:cd|pushd)\s+(.*)`)
	// wordRule is an argument that a shell leaves as it is, and the text that may follow
	// it.
	wordRule = expression(`^(?:"([^"$\x60\\]+)"|'([^']+)'|([\w./@%+=:,-]+))\s*(?:$|&&|;)(.*)`)
	// elsewhereRule is a command with an option that applies a patch in another directory.
	elsewhereRule = expression(`\b(?:git\s+(?:-C\s*\S+\s+)+apply|(?:git\s+apply|patch)\b.*\s(?:-d\s*\S|--directory[= ]))`)
)

// enterDirectory remembers the directory that the commands before a patch change to: the
// patch names files relative to it.
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
			p.notes.add(0, "its files are read as below %s, the directory of the command before it", shown(p.dir))
		}
	}
	return nil
}

func (p *parser) lost(l line) error {
	return &Error{
		Line: l.no, Msg: shown(l.text) + " changes the directory in a way that is not understood here",
		Hint: "send the patch alone, with paths from the workspace's root",
	}
}

// below puts the names of a file below the directory of the commands before the patch.
func (p *parser) below(f *File) {
	for _, name := range []*string{&f.Path, &f.To} {
		if p.dir != "" && *name != "" && !path.IsAbs(*name) {
			*name = p.dir + "/" + *name
		}
	}
}
