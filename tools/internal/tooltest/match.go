package tooltest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Match compares a wanted text with one that a tool gave. In the wanted text
// "…" stands for any text within a line and a line "..." for any lines. It
// returns "" when they match, else both texts.
func Match(want, got string) string {
	want, got = strings.TrimRight(want, "\n"), strings.TrimRight(got, "\n")
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.SplitSeq(want, "\n") {
		if line == "..." {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + `\n`)
	}
	b.WriteString(`\z`)
	if regexp.MustCompile(b.String()).MatchString(got + "\n") {
		return ""
	}
	return "want\n" + want + "\ngot\n" + got
}

// snapshot describes a tree: names, kinds, modes and the hash of each file.
// Times are left out: reading may touch the access time.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(host string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%v %s", info.Mode(), strings.TrimPrefix(host, dir))
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(host)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		}
		b.WriteString("\n")
		return nil
	}))
	return b.String()
}
