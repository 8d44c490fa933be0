// Package security has the figures of the audit log, secrets, tokens and consent.
//
// Start at [Audit], [Secrets], [Tokens] and [Confirmations]. It imports the harness,
// rawhttp and packages of the server, and no other figures.
package security

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/server/audit"
	"toolcrib/workspace/state"
)

// Audit tampers with an audit log of 100 rotations in every way, kills the
// processes that write one, and fills the disk under it.
func Audit(ctx context.Context, env harness.Environment) error {
	base, err := os.MkdirTemp("", "audit")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	rnd := rand.New(rand.NewPCG(harness.NewSeed(), 1))
	return errors.Join(
		auditTampering(ctx, env, filepath.Join(base, "tampering"), rnd),
		auditKills(ctx, env, filepath.Join(base, "kills"), rnd),
		auditFullDisk(ctx, env, filepath.Join(base, "disk")),
		auditCost(ctx, filepath.Join(base, "cost")),
	)
}

// auditedLog is a log that is tampered with.
type auditedLog struct {
	dir   string
	state *state.Dir
}

func newAuditedLog(base string) (auditedLog, error) {
	st, err := state.Shared(filepath.Join(base, "state"))
	return auditedLog{filepath.Join(base, "log"), st}, err
}

func (a auditedLog) open(ctx context.Context, size int64, files int, noSync bool) (*audit.Log, error) {
	return audit.Open(ctx, audit.Options{Dir: a.dir, State: a.state, MaxBytes: size, MaxFiles: files, NoSync: noSync})
}

// auditRecord is like the end record of a call.
func auditRecord(i int) []byte {
	return fmt.Appendf(nil, `{"time":%q,"event":"end","id":"ABCDEFGH-%d","tool":"read_file","principal":"local","client":"a client","access":"read","effects":"none","verdict":"allow","rule":"read","code":"ok","micros":%d,"attempts":1,"digest":"0123456789abcdef0123456789abcdef","arguments":{"path":"a/%d.go"},"paths":["a/%[2]d.go"]}`,
		time.Now().Format(time.RFC3339Nano), i, i%977, i)
}

// tampering is a way to change a log: it returns what changes the contents of the
// files, of which nil is a file that is removed.
type tampering struct {
	name string
	do   func(rnd *rand.Rand, files [][]byte)
}

var auditTamperings = []tampering{
	{"bit flipped", func(rnd *rand.Rand, files [][]byte) {
		f := pickFile(rnd, files)
		*f = bytes.Clone(*f)
		(*f)[rnd.IntN(len(*f))] ^= 1 << rnd.IntN(8)
	}},
	{"record dropped", onLines(func(rnd *rand.Rand, lines [][]byte) [][]byte {
		i := rnd.IntN(len(lines))
		return append(lines[:i:i], lines[i+1:]...)
	})},
	{"records swapped", onLines(func(rnd *rand.Rand, lines [][]byte) [][]byte {
		i := rnd.IntN(len(lines))
		j := (i + 1 + rnd.IntN(len(lines)-1)) % len(lines)
		lines[i], lines[j] = lines[j], lines[i]
		return lines
	})},
	{"record doubled", onLines(func(rnd *rand.Rand, lines [][]byte) [][]byte {
		from, to := rnd.IntN(len(lines)), rnd.IntN(len(lines)+1)
		return append(lines[:to:to], append([][]byte{lines[from]}, lines[to:]...)...)
	})},
	{"records swapped between files", func(rnd *rand.Rand, files [][]byte) {
		i := rnd.IntN(len(files))
		j := (i + 1 + rnd.IntN(len(files)-1)) % len(files)
		a, b := bytes.SplitAfter(files[i], []byte("\n")), bytes.SplitAfter(files[j], []byte("\n"))
		x, y := rnd.IntN(len(a)-1), rnd.IntN(len(b)-1)
		a[x], b[y] = b[y], a[x]
		files[i], files[j] = bytes.Join(a, nil), bytes.Join(b, nil)
	}},
	{"end cut", func(rnd *rand.Rand, files [][]byte) {
		last := &files[len(files)-1]
		*last = (*last)[:rnd.IntN(len(*last))]
	}},
	{"end of a file cut", func(rnd *rand.Rand, files [][]byte) {
		f := pickFile(rnd, files)
		*f = (*f)[:rnd.IntN(len(*f))]
	}},
	{"file removed", func(rnd *rand.Rand, files [][]byte) { files[rnd.IntN(len(files))] = nil }},
	{"last files removed", func(rnd *rand.Rand, files [][]byte) { clear(files[rnd.IntN(len(files)):]) }},
	{"files exchanged", func(rnd *rand.Rand, files [][]byte) {
		i := rnd.IntN(len(files))
		j := (i + 1 + rnd.IntN(len(files)-1)) % len(files)
		files[i], files[j] = files[j], files[i]
	}},
}

func pickFile(rnd *rand.Rand, files [][]byte) *[]byte { return &files[rnd.IntN(len(files))] }

func onLines(change func(*rand.Rand, [][]byte) [][]byte) func(*rand.Rand, [][]byte) {
	return func(rnd *rand.Rand, files [][]byte) {
		f := pickFile(rnd, files)
		lines := bytes.SplitAfter(*f, []byte("\n"))
		*f = bytes.Join(change(rnd, lines[:len(lines)-1]), nil)
	}
}

// auditTampering has Verify look at a log that was tampered with, once for each
// tampering.
func auditTampering(ctx context.Context, env harness.Environment, base string, rnd *rand.Rand) error {
	a, err := newAuditedLog(base)
	if err != nil {
		return err
	}
	defer a.state.Close()
	names, files, err := a.fill(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	clean, err := audit.Verify(ctx, a.dir, a.state)
	if err != nil {
		return err
	}
	fmt.Printf("a log of %d records in %d files, untouched: %d problems, %.0f ms to verify\n", clean.Records, clean.Files, len(clean.Problems), harness.Milliseconds(time.Since(begin)))
	fmt.Println("| tampering | done | found |\n|---|---|---|")
	done, found := make([]int, len(auditTamperings)), make([]int, len(auditTamperings))
	for n := range env.Of(10_000, 200) {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind := n % 4 // the four that the figure is about
		if n%10 == 9 {
			kind = 4 + rnd.IntN(len(auditTamperings)-4)
		}
		changed := append([][]byte(nil), files...)
		auditTamperings[kind].do(rnd, changed)
		r, err := a.tampered(ctx, names, files, changed)
		if err != nil {
			return err
		}
		done[kind]++
		if len(r.Problems) > 0 {
			found[kind]++
		}
	}
	missed := len(clean.Problems)
	for i, t := range auditTamperings {
		fmt.Printf("| %s | %d | %d |\n", t.name, done[i], found[i])
		missed += done[i] - found[i]
	}
	after, err := audit.Verify(ctx, a.dir, a.state)
	if err != nil {
		return err
	}
	if missed += len(after.Problems); missed > 0 {
		return fmt.Errorf("%d tamperings were not found or told without cause", missed)
	}
	return nil
}

// fill writes a log that rotates 100 times and returns its files.
func (a auditedLog) fill(ctx context.Context) (names []string, files [][]byte, err error) {
	const rotations, size = 100, 16 << 10
	l, err := a.open(ctx, size, 2*rotations, true)
	if err != nil {
		return nil, nil, err
	}
	for i := 0; len(names) <= rotations; i++ {
		if err := l.Append(auditRecord(i), audit.Now); err != nil {
			return nil, nil, err
		}
		if i%20 == 0 {
			if names, err = filepath.Glob(filepath.Join(a.dir, "*")); err != nil {
				return nil, nil, err
			}
		}
	}
	if err := l.Close(); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, data)
	}
	return names, files, nil
}

// tampered verifies the log with other contents, and puts the right ones back.
func (a auditedLog) tampered(ctx context.Context, names []string, right, wrong [][]byte) (r audit.Report, err error) {
	put := func(from, to [][]byte) error {
		for i, name := range names {
			var err error
			switch {
			case to[i] == nil:
				err = os.Remove(name)
			case from[i] == nil || !bytes.Equal(from[i], to[i]):
				err = os.WriteFile(name, to[i], 0o600)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := put(right, wrong); err != nil {
		return r, err
	}
	r, err = audit.Verify(ctx, a.dir, a.state)
	return r, errors.Join(err, put(wrong, right))
}
