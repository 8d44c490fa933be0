package files_test

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCopyRefusals(t *testing.T) { relocateRefuses(t, "copy_path") }

func TestCopy(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "#!/bin/sh\n", "lib/a": "1\n", "lib/l": "-> a", "lib/none/": "", "link": "-> run.sh", "to/x": "9\n"})
	if err := os.Chmod(filepath.Join(b.dir, "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	b.want("run.sh -> bin/run: copied, 10 B; change …; undo: restore_file undo=true", b.call("copy_path", args{"source": "run.sh", "destination": "bin/run"}))
	info, err := os.Stat(filepath.Join(b.dir, "bin/run"))
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the copy: %v, %v", info, err)
	}
	b.want("link -> link2: copied, a symlink; change …", b.call("copy_path", args{"source": "link", "destination": "link2"}))
	b.want("lib -> to: copied, 2 files, replacing a directory; change …", b.call("copy_path", args{"source": "lib", "destination": "to", "overwrite": true}))
	b.tree(map[string]string{
		"run.sh": "#!/bin/sh\n", "bin/run": "#!/bin/sh\n", "link": "-> run.sh", "link2": "-> run.sh",
		"lib/a": "1\n", "lib/l": "-> a", "lib/none/": "", "to/a": "1\n", "to/l": "-> a", "to/none/": "",
	})
}

// The user is asked before a copy replaces what cannot be undone.
func TestCopyAsksBeforeALoss(t *testing.T) {
	relocateAsks(t, "copy_path", "copy")
	losing(t, "copy_path", []loss{
		{args{"source": "big.log", "destination": "a.txt", "overwrite": true}, "", "copy big.log over a.txt (2 B)" + lostWithout},
		{args{"source": "a.txt", "destination": "big.log"}, "", ""},
	})
}
