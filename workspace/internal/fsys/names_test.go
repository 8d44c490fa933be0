package fsys_test

import (
	"testing"

	"toolcrib/workspace/internal/fsys"
)

func TestWindowsNames(t *testing.T) {
	for rel, ok := range map[string]bool{
		".": true, "a/b.txt": true, ".git/config": true, "a~": true, "~": true, "a~b": true, "..foo": true,
		"f:stream": false, "C:f": false, "GIT~1/config": false, "a./b": false, "a/b\x20": false, "a/b.": false, "x/LONGNA~2.TXT": false,
	} {
		if name := fsys.WindowsAlias(rel); (name == "") != ok {
			t.Errorf("%s: %q", rel, name)
		}
	}
}
