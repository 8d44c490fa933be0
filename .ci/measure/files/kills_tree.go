package files

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// killedTree is what a directory must hold: the texts of files by their paths below
// it, slash-separated. Directories are not in it.
type killedTree map[string]string

// names lists the files below dir, "" for all, in the order of the alphabet.
func (t killedTree) names(dir string) []string {
	var names []string
	for name := range t {
		if dir == "" || strings.HasPrefix(name, dir+"/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// dirs lists the directories at the top that hold files.
func (t killedTree) dirs() []string {
	seen := map[string]bool{}
	for name := range t {
		if dir, _, ok := strings.Cut(name, "/"); ok {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// readKilled reads the files below dir, and counts temporary entries.
func readKilled(dir string) (t killedTree, strays []string, err error) {
	t = killedTree{}
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if strings.HasPrefix(e.Name(), ".toolcrib-") {
			strays = append(strays, rel)
		} else if !e.IsDir() {
			data, err := os.ReadFile(name)
			t[filepath.ToSlash(rel)] = string(data)
			return err
		}
		return nil
	})
	return t, strays, err
}

// killedText makes up a text of generation n. Its last line is the sum of the rest.
func killedText(rnd *rand.Rand, n int) string {
	lines := 2 + rnd.IntN(30)
	if rnd.IntN(20) == 0 {
		lines = 3000
	}
	var b strings.Builder
	fmt.Fprintf(&b, "generation %d %x\n", n, rnd.Uint64())
	for i := range lines {
		fmt.Fprintf(&b, "line %d %x\n", i, rnd.Uint64())
	}
	return summed(b.String())
}

func summed(head string) string {
	return fmt.Sprintf("%ssum %x\n", head, sha256.Sum256([]byte(head)))
}

// next is the text with another first line, as an edit changes it.
func next(rnd *rand.Rand, text string, n int) string {
	_, rest, _ := strings.Cut(text, "\n")
	head, _, _ := splitSum(rest)
	return summed(fmt.Sprintf("generation %d %x\n%s", n, rnd.Uint64(), head))
}

// splitSum takes a text apart before its last line.
func splitSum(text string) (head, last string, ok bool) {
	i := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')
	return text[:i+1], text[i+1:], i >= 0 && strings.HasSuffix(text, "\n")
}

// isWhole reports whether a text is one that somebody has written, all of it.
func isWhole(text string) bool {
	head, _, ok := splitSum(text)
	return ok && text == summed(head)
}
