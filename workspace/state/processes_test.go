package state_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"toolcrib/workspace/state"
)

// The test binary is also the other process: TestMain runs the role that the
// environment names, with the base of the state as its argument.
const roleVar = "TOOLCRIB_STATE_TEST_ROLE"

const perProcess = 100

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(role, base string) error {
	d, err := state.Open(base, "/root")
	if err != nil {
		return err
	}
	defer d.Close()
	switch role {
	case "key":
		key, err := d.Key(context.Background(), "seal")
		fmt.Printf("%x", key)
		return err
	case "write":
		db, err := d.DB(context.Background(), "numbers", schema)
		if err != nil {
			return err
		}
		for i := range perProcess {
			if _, err := db.Exec("INSERT INTO n VALUES (?, ?)", os.Getpid(), i); err != nil {
				return err
			}
		}
		return nil
	case "lock": // holds the lock until its input ends
		if _, err := d.Lock(context.Background(), "held"); err != nil {
			return err
		}
		fmt.Println("locked")
		if _, err := os.Stdin.Read(make([]byte, 1)); err != io.EOF {
			return errors.New("the input did not end")
		}
		return nil
	case "own": // until its input ends
		o, err := d.Own("journal")
		if err != nil {
			return err
		}
		if err := errors.Join(o.Append([]byte("first\n")), o.Append([]byte("second\n"))); err != nil {
			return err
		}
		fmt.Println("owned")
		_, err = os.Stdin.Read(make([]byte, 1))
		return err
	}
	return errors.New("no such role: " + role)
}

func process(t *testing.T, role, base string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, base)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestProcessesWrite(t *testing.T) {
	base := t.TempDir()
	const processes = 2
	var wg sync.WaitGroup
	for range processes {
		cmd := process(t, "write", base)
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	db, err := open(t, base).DB(t.Context(), "numbers", schema)
	if err != nil {
		t.Fatal(err)
	}
	var rows, writers int
	err = db.QueryRow("SELECT count(*), count(DISTINCT process) FROM n").Scan(&rows, &writers)
	if err != nil || rows != processes*perProcess || writers != processes {
		t.Errorf("%d rows of %d processes, %v", rows, writers, err)
	}
}

func TestProcessesMakeOneKey(t *testing.T) {
	base := t.TempDir()
	keys := make([][]byte, 6)
	var wg sync.WaitGroup
	for i := range keys {
		cmd := process(t, "key", base)
		wg.Go(func() {
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			keys[i] = out
		})
	}
	wg.Wait()
	d := open(t, base)
	key, err := d.Key(t.Context(), "seal")
	if err != nil || len(key) != state.KeySize || bytes.Count(key, key[:1]) == len(key) {
		t.Fatalf("key %x, %v", key, err)
	}
	for _, k := range keys {
		if string(k) != fmt.Sprintf("%x", key) {
			t.Errorf("a process has the key %s, it is %x", k, key)
		}
	}
	other, err := d.Key(t.Context(), "other")
	if err != nil || bytes.Equal(other, key) {
		t.Errorf("two names have one key: %v", err)
	}
	if err := os.WriteFile(filepath.Join(d.Path(), "seal.key"), key[:5], 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := d.Key(t.Context(), "seal"); err == nil {
		t.Errorf("a damaged key was taken or replaced: %x", key)
	}
}

func TestLockBetweenProcesses(t *testing.T) {
	base := t.TempDir()
	cmd := process(t, "lock", base)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("locked"))
	if _, err := out.Read(line); err != nil || string(line) != "locked" {
		t.Fatalf("%q, %v", line, err)
	}
	d := open(t, base)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := d.Lock(ctx, "held"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the lock of another process: %v", err)
	}
	if l, err := d.Lock(t.Context(), "free"); err != nil {
		t.Errorf("a lock of another name: %v", err)
	} else if err := l.Unlock(); err != nil {
		t.Error(err)
	}
	in.Close() // the process ends without unlocking
	l, err := d.Lock(t.Context(), "held")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
