package files

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"toolcrib/.ci/measure/harness"
)

// faultKinds are what happens at each operation in turn.
var faultKinds = []fault{
	{"EIO", unix.EIO, false}, {"ENOSPC", unix.ENOSPC, false}, {"EDQUOT", unix.EDQUOT, false}, {"EACCES", unix.EACCES, false},
	{"ENOSPC from then on", unix.ENOSPC, true}, {"kill -9", 0, false},
}

// faultModes are file systems that lack kinds of rename.
var faultModes = []struct {
	name   string
	refuse uint64
	kinds  []fault
}{
	{"", 0, faultKinds},
	{", no exchange", unix.RENAME_EXCHANGE, []fault{faultKinds[0], faultKinds[5]}},
	{", no renameat2", unix.RENAME_EXCHANGE | unix.RENAME_NOREPLACE, []fault{faultKinds[0], faultKinds[5]}},
}

// Faults makes each operation of each writing call fail in turn, in each way, and
// looks at what is there afterwards and after the next start. Then it does the
// like with real disks and rights.
func Faults(ctx context.Context, env harness.Environment) error {
	base, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	fmt.Println("| faults at each operation | operations | injected | error, old | error, new: durability | done all the same | killed: old, new | torn or half | silent | other at the next start | strays | history |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|")
	var errs []error
	for m, mode := range faultModes {
		r, err := newFaultRunner(ctx, env, filepath.Join(base, fmt.Sprint(m)), mode.refuse)
		if err != nil {
			return err
		}
		for _, c := range faultCases {
			if mode.refuse != 0 && !c.swaps && mode.refuse&unix.RENAME_NOREPLACE == 0 {
				continue
			}
			t, err := r.all(c, mode.kinds, env.Scale)
			if err != nil {
				return fmt.Errorf("%s%s: %w", c.name, mode.name, err)
			}
			fmt.Println(t.row(c.name + mode.name))
			if bad := t.half + t.silent + t.other + t.strays + t.history; bad > 0 || t.injected == 0 {
				errs = append(errs, fmt.Errorf("%s%s: %d injected, %d faults found", c.name, mode.name, t.injected, bad))
			}
		}
		if err := r.stop(); err != nil {
			return err
		}
	}
	return errors.Join(append(errs, faultDisks(ctx, env, base))...)
}

// faultTally counts what came of the faults of one case.
type faultTally struct {
	operations, injected                 int
	failed, unsure, done                 int // told as an error, old; as one of durability, new; as done, new
	killedOld, killedNew                 int
	half, silent, other, strays, history int
	samples                              []string
}

func (t *faultTally) row(name string) string {
	row := fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d, %d | %d | %d | %d | %d | %d |", name, t.operations, t.injected, t.failed, t.unsure, t.done,
		t.killedOld, t.killedNew, t.half, t.silent, t.other, t.strays, t.history)
	return strings.Join(append([]string{row}, t.samples...), "\n  ")
}

func (t *faultTally) sample(counter *int, format string, args ...any) {
	*counter++
	if len(t.samples) < 12 {
		t.samples = append(t.samples, fmt.Sprintf(format, args...))
	}
}

// all makes the call once in peace, and then with each fault at each operation; a
// smaller scale leaves out operations.
func (r *faultRunner) all(c faultCase, kinds []fault, scale float64) (*faultTally, error) {
	if _, _, err := r.prepare(c); err != nil {
		return nil, err
	}
	r.inject.arm(fault{}, 0)
	err := r.peace(c.call)
	t := &faultTally{}
	t.operations, _ = r.inject.disarm()
	if err != nil {
		return nil, err
	}
	want, _, err := readFaults(r.dir)
	if err != nil {
		return nil, err
	}
	step := max(int(0.5/scale), 1)
	for k, kind := range kinds {
		for at := 1 + k%step; ; at += step {
			hit, err := r.one(t, c, kind, at, want)
			if err != nil {
				return nil, fmt.Errorf("%s at operation %d: %w", kind.name, at, err)
			}
			if !hit && at >= t.operations {
				break
			}
		}
	}
	return t, nil
}

// one makes the call with a fault at one operation, and reports whether there was
// such an operation.
func (r *faultRunner) one(t *faultTally, c faultCase, kind fault, at int, want map[string]string) (hit bool, err error) {
	old, changes, err := r.prepare(c)
	if err != nil {
		return false, err
	}
	r.inject.arm(kind, at)
	answer, err := r.call(c.call)
	_, hits := r.inject.disarm()
	killed := kind.err == 0 && len(hits) > 0
	if err != nil && !killed {
		return false, err
	}
	now, _, err := readFaults(r.dir)
	if err != nil {
		return false, err
	}
	if !killed && at%2 == 0 {
		err = r.stop()
	} else {
		_ = r.server.Cmd.Process.Kill() // or it is dead already
		<-r.server.Done
		_ = r.server.Cmd.Wait()
	}
	if err != nil {
		return false, err
	}
	if err := r.start(); err != nil {
		return false, err
	}
	if len(hits) == 0 {
		return false, nil
	}
	t.injected++
	what := fmt.Sprintf("%s at operation %d, %s: %.300q", kind.name, at, hits[0], answer.Text)
	after, strays, err := readFaults(r.dir)
	if err != nil {
		return false, err
	}
	if len(strays) > 0 {
		t.sample(&t.strays, "%s: strays %q", what, strays)
	}
	same := maps.Equal[map[string]string, map[string]string]
	if strings.Contains(answer.Text, "does not have its") {
		same = sameContents // it says so itself
	}
	isOld, isNew := same(after, old), same(after, want)
	undone := !same(now, old) && !same(now, want)
	told := strings.Contains(answer.Text, "could not be undone")
	switch {
	case !isOld && !isNew:
		t.sample(&t.half, "%s: after the next start neither old nor new: %s", what, differing(old, want, after))
	case !killed && undone && !told:
		t.sample(&t.half, "%s: neither old nor new: %s", what, differing(old, want, now))
	case !killed && !undone && !maps.Equal(now, after):
		t.sample(&t.other, "%s: changed at the next start", what)
	case killed && isNew:
		t.killedNew++
	case killed:
		t.killedOld++
	case !answer.Failed && !isNew:
		t.sample(&t.silent, "%s: not done", what)
	case !answer.Failed:
		t.done++
	case isOld:
		t.failed++
	case strings.Contains(answer.Text, "may not survive"):
		t.unsure++
	default:
		t.sample(&t.silent, "%s: done, though the error does not say so", what)
	}
	n, err := r.changes()
	if err != nil {
		return false, err
	}
	if isNew && n != changes+1 || isOld && n != changes {
		t.sample(&t.history, "%s: the history has %d changes more, new %t", what, n-changes, isNew)
	}
	return true, nil
}

// sameContents compares trees but for the modes of their files.
func sameContents(a, b map[string]string) bool {
	return maps.EqualFunc(a, b, func(a, b string) bool {
		_, a, _ = strings.Cut(a, " ")
		_, b, _ = strings.Cut(b, " ")
		return a == b
	})
}

// differing names what is not as it was or as it should be.
func differing(old, want, got map[string]string) string {
	var list []string
	for name := range union(old, want, got) {
		state := "other"
		switch got[name] {
		case old[name]:
			state = "old"
		case want[name]:
			state = "new"
		}
		if old[name] != want[name] || state == "other" {
			list = append(list, name+" "+state)
		}
	}
	return strings.Join(list, ", ")
}

func union(maps ...map[string]string) map[string]bool {
	all := map[string]bool{}
	for _, m := range maps {
		for name := range m {
			all[name] = true
		}
	}
	return all
}
