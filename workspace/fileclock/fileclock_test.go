package fileclock_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"toolcrib/workspace/fileclock"
)

func TestPass(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	for range 50 {
		now := time.Now()
		fileclock.Pass(now)
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if !info.ModTime().After(now) {
			t.Errorf("a file that was written after %v is of %v", now, info.ModTime())
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	fileclock.Pass(begin.Add(time.Hour))
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it waits %v for a time that is far away", took)
	}
}
