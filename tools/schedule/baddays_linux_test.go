package schedule_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"toolcrib/tools/internal/database/databasetest"
	"toolcrib/tools/schedule"
)

// look looks at the clock once, and returns what is wrong.
func (d *desk) look(at string) string {
	d.t.Helper()
	d.at(at)
	_, err := schedule.Tick(d.ctx, d.Deps, d.clock())
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestDisk fills the disk of the state, and makes it read-only: calls say what is wrong, and
// the slot that was due runs when there is room, told as late.
func TestDisk(t *testing.T) {
	const (
		add    = `{"name":"b","when":"every 10m","zone":"UTC","tool":"note"}`
		full   = "unavailable: runs cannot be started or read at the moment: the disk of the state is full: nothing was changed (the user must free space)"
		closed = "unavailable: schedules cannot be kept: "
	)
	disk, root := databasetest.Disk(t), t.TempDir()
	t.Run("full", func(t *testing.T) {
		d := deskAt(t, "", disk, root)
		d.at("2026-05-04T08:00:00Z")
		d.call("schedule_create", `{"name":"a","when":"every 10m","zone":"UTC","tool":"note"}`)
		d.tick("2026-05-04T08:10:00Z")
		d.ran(1)
		filler := filepath.Join(disk, "filler")
		if err := os.WriteFile(filler, bytes.Repeat([]byte("x"), 3<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if got := d.call("schedule_create", add); "error: "+got != databasetest.Full {
			t.Errorf("create: %s", got)
		}
		expect(t, d.call("schedule_run", `{"name":"a"}`), full)
		expect(t, d.look("2026-05-04T08:20:00Z"), full)
		expect(t, d.call("schedule_list", `{"name":"a"}`), "; started 1, missed 0", "08:10 UTC: ok")
		if n := d.ran(1); n != 1 {
			t.Errorf("%d calls, of which one was recorded", n)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		d.tick("2026-05-04T08:21:00Z")
		if n := d.ran(2); n != 2 {
			t.Errorf("%d calls when there is room", n)
		}
		expect(t, d.call("schedule_list", `{"name":"a"}`), "08:21 UTC: ok, 1m0s late", "08:10 UTC: ok")
	})
	t.Run("read-only", func(t *testing.T) {
		databasetest.Protect(t, disk)
		d := deskAt(t, "", disk, root)
		expect(t, d.look("2026-05-04T08:30:00Z"), closed, "read-only file system", "--state-dir that can be written")
		for tool, args := range map[string]string{"schedule_create": add, "schedule_list": "{}", "schedule_run": `{"name":"a"}`, "schedule_delete": `{"name":"a"}`} {
			expect(t, d.call(tool, args), closed)
		}
	})
	t.Run("writable again", func(t *testing.T) {
		databasetest.Grow(t, disk)
		d := deskAt(t, "", disk, root)
		d.tick("2026-05-04T08:30:00Z")
		if n := d.ran(1); n != 1 {
			t.Errorf("%d calls", n)
		}
		expect(t, d.call("schedule_list", `{"name":"a"}`), "started 3, missed 0", "08:30 UTC: ok")
	})
}

// TestUnusable has databases that are damaged or of a newer program: calls say so, and change
// nothing. While that of the runs cannot be used, schedules can be seen.
func TestUnusable(t *testing.T) {
	t.Parallel()
	damage := func(t *testing.T, path string) {
		os.Remove(path + "-wal") // it may hold the whole content
		if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	query := func(q string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.Exec(q)
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	const runs = "unavailable: runs cannot be started or read at the moment: "
	for _, c := range []struct {
		name, file string
		spoil      func(t *testing.T, path string)
		list, run  string
	}{
		{"damaged schedules", "state.db", damage, "unavailable: the state database is damaged", "unavailable: the state database is damaged"},
		{"newer schedules", "state.db", query("UPDATE toolcrib_parts SET version = 99 WHERE name = 'schedules'"), "made by a newer toolcrib: version 99", "made by a newer toolcrib: version 99"},
		{"damaged runs", "runs.db", damage, "started 1, missed 0", runs + "the state database is damaged"},
		{"newer runs", "runs.db", query("PRAGMA user_version = 99"), "started 1, missed 0", runs + "the state database was made by a newer toolcrib (update toolcrib"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, root := t.TempDir(), t.TempDir()
			t.Run("before", func(t *testing.T) {
				d := deskAt(t, "", base, root)
				d.at("2026-05-04T08:00:00Z")
				d.call("schedule_create", `{"name":"a","when":"every 10m","zone":"UTC","tool":"note"}`)
				d.tick("2026-05-04T08:10:00Z")
				d.ran(1)
			})
			path := ""
			if err := filepath.WalkDir(base, func(p string, e fs.DirEntry, err error) error {
				if err == nil && e.Name() == c.file {
					path = p
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			d := deskAt(t, "", base, root)
			expect(t, d.look("2026-05-04T08:20:00Z"), c.run)
			expect(t, d.call("schedule_list", `{"name":"a"}`), c.list)
			expect(t, d.call("schedule_run", `{"name":"a"}`), c.run)
			if n := d.ran(0); n != 0 {
				t.Errorf("%d calls", n)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}
