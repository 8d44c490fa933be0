package clientfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/cli/internal/clientfile"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, name string) *clientfile.File {
	t.Helper()
	f, err := clientfile.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, name, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// tree returns what a directory holds, by name.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.json")
	write(t, name, "one", 0o640)
	for i, want := range []string{"two", "three"} { // in the same millisecond
		backup, err := read(t, name).Write([]byte(want), 0, noon)
		if err != nil || !strings.HasPrefix(backup, name+".toolcrib-20261121T120000.00") {
			t.Errorf("write %d: backup %q, %v", i, backup, err)
		}
	}
	want := map[string]string{
		"a.json": "three",
		"a.json.toolcrib-20261121T120000.000Z.bak": "one",
		"a.json.toolcrib-20261121T120000.001Z.bak": "two",
	}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	earlier, err := read(t, name).Earlier()
	if got := string(bytes.Join(earlier, []byte(", "))); err != nil || got != "two, one" {
		t.Errorf("earlier: %q, %v", got, err)
	}
	if backup, err := read(t, name).Delete(noon); err != nil || tree(t, dir)[filepath.Base(backup)] != "three" {
		t.Errorf("delete: backup %q, %v", backup, err)
	}
	if f := read(t, name); f.Exists() {
		t.Error("a file that was deleted exists")
	}
}

func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "deep", "er", "a.json")
	backup, err := read(t, name).Write([]byte("new"), 0o600, noon)
	if err != nil || backup != "" {
		t.Errorf("backup %q, %v", backup, err)
	}
	if diff := cmp.Diff(map[string]string{"deep/er/a.json": "new"}, tree(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestWriteThroughSymlink shows that a link stays one, also to a file that is
// missing, and that the backup is in the directory of the link.
func TestWriteThroughSymlink(t *testing.T) {
	for _, exists := range []bool{true, false} {
		home, dots := t.TempDir(), t.TempDir()
		name, target := filepath.Join(home, "a.json"), filepath.Join(dots, "b.json")
		if exists {
			write(t, target, "old", 0o600)
		}
		hop := filepath.Join(home, "hop")
		if err := errors.Join(os.Symlink(target, hop), os.Symlink("hop", name)); err != nil {
			t.Skip("needs: the right to make symlinks")
		}
		if _, err := read(t, name).Write([]byte("new"), 0o600, noon); err != nil {
			t.Fatal(err)
		}
		if link, err := os.Readlink(name); err != nil || link != "hop" {
			t.Errorf("the link leads to %q, %v", link, err)
		}
		if diff := cmp.Diff(map[string]string{"b.json": "new"}, tree(t, dots)); diff != "" {
			t.Errorf("in the directory of the target (-want +got):\n%s", diff)
		}
		want := map[string]string{}
		if exists {
			want["a.json.toolcrib-20261121T120000.000Z.bak"] = "old"
		}
		if diff := cmp.Diff(want, tree(t, home)); diff != "" {
			t.Errorf("in the directory of the link (-want +got):\n%s", diff)
		}
	}
}

// TestNotWritable refuses a file that is read-only, and a link to a place that is
// not there.
func TestNotWritable(t *testing.T) {
	home := t.TempDir()
	locked, lost := filepath.Join(home, "locked.json"), filepath.Join(home, "lost.json")
	write(t, locked, "old", 0o444)
	if backup, err := read(t, locked).Write([]byte("new"), 0o600, noon); err == nil {
		t.Errorf("a read-only file was written, backup %q", backup)
	}
	if err := os.Symlink(filepath.Join(home, "missing", "a.json"), lost); err != nil {
		t.Skip("needs: the right to make symlinks")
	}
	if _, err := clientfile.Read(lost); err == nil {
		t.Error("a link to a directory that is missing was taken")
	}
	if diff := cmp.Diff(map[string]string{"locked.json": "old"}, tree(t, home)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestChanged shows that a file that somebody else has written since it was read
// stays as they wrote it, and that its directory has no file more.
func TestChanged(t *testing.T) {
	const missing = "-"
	for _, tt := range []struct{ name, before, meanwhile string }{
		{"written", "one", "theirs"},
		{"removed", "one", missing},
		{"removed, empty", "", missing},
		{"created", missing, "theirs"},
		{"created, empty", missing, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, "a.json")
			if tt.before != missing {
				write(t, name, tt.before, 0o600)
			}
			f := read(t, name)
			want := map[string]string{}
			if tt.meanwhile != missing {
				write(t, name, tt.meanwhile, 0o600)
				want["a.json"] = tt.meanwhile
			} else if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte("ours"), 0o600, noon); !errors.Is(err, clientfile.ErrChanged) {
				t.Errorf("write: %v", err)
			}
			if tt.before != missing {
				if _, err := f.Delete(noon); !errors.Is(err, clientfile.ErrChanged) {
					t.Errorf("delete: %v", err)
				}
			}
			if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Skip("needs: the right to make symlinks")
	}
	for name, want := range map[string]string{dir: "not a regular file", loop: "too many symlinks"} {
		if _, err := clientfile.Read(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", name, err, want)
		}
	}
	big := filepath.Join(dir, "big")
	write(t, big, "", 0o600)
	if err := os.Truncate(big, 64<<20+1); err != nil {
		t.Fatal(err)
	}
	if _, err := clientfile.Read(big); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("a huge file: %v", err)
	}
}
