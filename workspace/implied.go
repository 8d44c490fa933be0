package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"toolcrib/workspace/internal/fsys"
)

// ImpliedRoot refuses a directory that is too wide to become a root without
// being named: the top of a file system, the home directory, and what holds it.
// The hint is the line to type for it all the same.
func ImpliedRoot(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	names := []string{dir}
	if canonical, err := filepath.EvalSymlinks(dir); err == nil {
		names = append(names, canonical)
	}
	for _, name := range names {
		what := ""
		switch {
		case filepath.Dir(name) == name:
			what = "the top of the file system"
		case holdsHome(name):
			what = "the home directory or holds it"
		default:
			continue
		}
		return &Error{
			Rule: RuleInvalid, Path: dir,
			Msg:  fsys.Show(dir) + " is " + what + ", too wide to be served without being named",
			Hint: "to serve it all the same: toolcrib " + shellWord(dir),
		}
	}
	return nil
}

func holdsHome(dir string) bool {
	home, err := os.UserHomeDir()
	if err != nil {
		return false // without a home directory there is none to protect
	}
	homes := []string{filepath.Clean(home)}
	if canonical, err := filepath.EvalSymlinks(home); err == nil {
		homes = append(homes, canonical)
	}
	for _, home := range homes {
		if _, ok := fsys.Below(filepath.ToSlash(dir), filepath.ToSlash(home)); ok {
			return true
		}
	}
	return false
}

// shellWord quotes a word where a shell would take it apart.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`/\:._-+`, r)
	}
	if strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
