package security

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/.ci/measure/harness"
	"toolcrib/server/audit"
)

// auditFullDisk serves with the log on a disk that is full and has room again.
func auditFullDisk(ctx context.Context, env harness.Environment, base string) error {
	files, logs := filepath.Join(base, "files"), filepath.Join(base, "log")
	if err := errors.Join(os.MkdirAll(files, 0o755), os.MkdirAll(logs, 0o700), os.WriteFile(filepath.Join(files, "a.txt"), []byte("text\n"), 0o644)); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", logs, "tmpfs", 0, "size=256k"); err != nil {
		if errors.Is(err, unix.EPERM) {
			fmt.Println("full disk: needs: the right to mount")
			return nil
		}
		return err
	}
	defer unix.Unmount(logs, unix.MNT_DETACH) //nolint:errcheck // the mount goes with the directory
	state := filepath.Join(base, "state")
	c, err := harness.Dial(ctx, nil, env.Binary, "serve", "--log-level", "error", "--state-dir", state, "--audit-dir", filepath.Join(logs, "audit"), files)
	if err != nil {
		return err
	}
	if err := c.Initialize(); err != nil {
		return err
	}
	id := 10
	call := func(tool string, args map[string]any) (string, error) {
		id++
		m, err := c.Call(id, "tools/call", map[string]any{"name": tool, "arguments": args})
		return string(m.Result), err
	}
	filler := filepath.Join(logs, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); err == nil {
		return errors.New("the small disk has room for 1 MB")
	}
	var wrong []string
	done, refused := 0, 0
	write := func(n int) error { // a write is done and there, or refused and not there
		name := fmt.Sprintf("new%d.txt", n)
		got, err := call("write_file", map[string]any{"path": name, "content": "new\n"})
		if err != nil {
			return err
		}
		_, missing := os.Stat(filepath.Join(files, name))
		switch no := strings.Contains(got, "the audit log cannot be written"); {
		case no != (missing != nil):
			wrong = append(wrong, fmt.Sprintf("%.200s; %s: %v", got, name, missing))
		case no:
			refused++
		default:
			done++
		}
		return nil
	}
	const tries = 100 // the last block of a file has room for some records yet
	for n := range tries {
		if err := write(n); err != nil {
			return err
		}
		got, err := call("read_file", map[string]any{"path": "a.txt"})
		if err != nil {
			return err
		}
		if !strings.Contains(got, "text") {
			wrong = append(wrong, "reading on a full disk: "+got)
		}
	}
	full := refused
	if err := os.Remove(filler); err != nil {
		return err
	}
	for n := range 10 {
		if err := write(tries + n); err != nil {
			return err
		}
	}
	if full < tries/2 || refused > full {
		wrong = append(wrong, fmt.Sprintf("%d writes were refused on a full disk, %d with room", full, refused-full))
	}
	if err := c.Close(); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, env.Binary, "audit", "verify", "--state-dir", state, "--audit-dir", filepath.Join(logs, "audit")).CombinedOutput()
	if err != nil {
		wrong = append(wrong, fmt.Sprintf("verify: %v: %s", err, out))
	}
	fmt.Println("| full disk under the log | writes refused | done, with room | reads answered | wrong |\n|---|---|---|---|---|")
	fmt.Printf("| | %d | %d | %d | %d |\n", refused, done, tries, len(wrong))
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}

// auditCost tells what a record costs a caller that waits for it.
func auditCost(ctx context.Context, base string) error {
	a, err := newAuditedLog(base)
	if err != nil {
		return err
	}
	defer a.state.Close()
	l, err := a.open(ctx, 0, 0, false)
	if err != nil {
		return err
	}
	measure := func(callers, each int, promise audit.Promise) (time.Duration, error) {
		var group sync.WaitGroup
		errs := make([]error, callers)
		begin := time.Now()
		for c := range callers {
			group.Go(func() {
				for i := range each {
					if err := l.Append(auditRecord(i), promise); err != nil {
						errs[c] = err
						return
					}
				}
			})
		}
		group.Wait()
		return time.Since(begin) / time.Duration(callers*each), errors.Join(errs...)
	}
	fmt.Println("| cost of a record | callers | a record |\n|---|---|---|")
	for _, m := range []struct {
		name    string
		callers int
		each    int
		promise audit.Promise
	}{
		{"nobody waits", 1, 20_000, audit.Later},
		{"until it is on the disk", 1, 100, audit.Now},
		{"until it is on the disk", 64, 30, audit.Now},
	} {
		took, err := measure(m.callers, m.each, m.promise)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %.1f µs |\n", m.name, m.callers, float64(took.Nanoseconds())/1000)
	}
	return l.Close()
}
