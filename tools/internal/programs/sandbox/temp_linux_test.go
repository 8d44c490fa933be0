package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// Servers that start at the same time leave each other's directories alone, and that of a
// dead one goes.
func TestTempsBesideEachOther(t *testing.T) {
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	gone := filepath.Join(base, tempPrefix+"gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(gone, lockName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const servers, starts = 4, 100
	failed := make(chan error, servers)
	for range servers {
		go func() {
			var err error
			for range starts {
				var one *temp
				if one, err = newTemp(nil, ""); err != nil {
					break
				}
				if err = one.remove(); err != nil {
					break
				}
			}
			failed <- err
		}()
	}
	for range servers {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
