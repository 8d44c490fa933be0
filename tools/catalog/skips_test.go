package catalog_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A test that is skipped says what it needs, by which skipped tests are counted.
func TestSkips(t *testing.T) {
	skip := regexp.MustCompile(`\b[tb]\.Skip(f?\((?:"needs: )?|Now\(\))`)
	const root = "../.."
	found := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "node_modules" || !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, call := range skip.FindAllString(line, -1) {
				if found++; !strings.HasSuffix(call, `"needs: `) {
					t.Errorf("%s:%d: a skip that does not say \"needs: \": %s", file, i+1, strings.TrimSpace(line))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 50 {
		t.Errorf("%d skips are found", found)
	}
}
