// Package edits has the figures of changes of text: edits, patches, arguments as clients
// write them, encodings.
//
// Start at [Edits]. It imports the harness and nothing else of toolcrib.
package edits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/.ci/measure/harness"
)

const (
	fuzzedFor     = 10 * time.Minute
	fuzzedWorkers = 4
)

// Edits makes random edits and patches of random files and holds each to what must
// be so whatever they are: one that fails leaves the bytes, the inverse brings them
// back, and a dry run shows what the real one does.
func Edits(ctx context.Context, env harness.Environment) error {
	server, dir, remove, err := env.UseScratch(ctx, "edits")
	defer remove()
	if err != nil {
		return err
	}
	seed := harness.NewSeed()
	f := &fuzzing{server: server, dir: dir, until: time.Now().Add(max(time.Duration(float64(fuzzedFor)*env.Scale), 3*time.Second))}
	errs := make([]error, fuzzedWorkers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for n := 0; time.Now().Before(f.until) && errs[i] == nil && ctx.Err() == nil; n++ {
				edit := newFuzzed(rand.New(rand.NewPCG(seed, uint64(i)<<32+uint64(n))))
				errs[i] = f.try(edit, fmt.Sprintf("%d-%d", i, n))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Println("| fuzzed | edited | refused | a refused one changed the file | a dry run differs | its diff is not the change | the inverse edit, of these wrong | the reversed diff as a patch, of these wrong | undo, of these wrong |\n|---|---|---|---|---|---|---|---|---|")
	wrong := 0
	for i, tool := range []string{"edit_file", "apply_patch"} {
		c := &f.counts[i]
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %d, %d | %d, %d | %d, %d |\n", tool, c.edited.Load(), c.refused.Load(), c.torn.Load(), c.dry.Load(), c.diff.Load(),
			c.inverse.Load(), c.inverseWrong.Load(), c.reversed.Load(), c.reversedWrong.Load(), c.undone.Load(), c.undoneWrong.Load())
		wrong += int(c.torn.Load() + c.dry.Load() + c.diff.Load() + c.inverseWrong.Load() + c.reversedWrong.Load() + c.undoneWrong.Load())
		if c.edited.Load() == 0 || c.refused.Load() == 0 {
			return fmt.Errorf("%s: nothing edited or nothing refused: nothing is proved", tool)
		}
	}
	for _, sample := range f.samples {
		fmt.Println(sample)
	}
	if wrong > 0 {
		return fmt.Errorf("%d violations", wrong)
	}
	return server.Close()
}

// fuzzing is one run.
type fuzzing struct {
	server *harness.ToolUser
	dir    string
	until  time.Time
	counts [2]fuzzedCounts

	mu      sync.Mutex
	samples []string
}

type fuzzedCounts struct {
	edited, refused, torn, dry, diff atomic.Int64
	inverse, reversed, undone        atomic.Int64
	inverseWrong, reversedWrong      atomic.Int64
	undoneWrong                      atomic.Int64
}

func (f *fuzzing) sample(e *fuzzed, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.samples) < 10 {
		f.samples = append(f.samples, fmt.Sprintf("- %s of %.600q (%s) by %.600q:\n  %s", e.tool(), e.data, e.form, fmt.Sprint(e.args), fmt.Sprintf(format, args...)))
	}
}

// try makes one edit: dry, in earnest, and back in three ways.
func (f *fuzzing) try(e *fuzzed, name string) error {
	file := filepath.Join(f.dir, name)
	if err := os.WriteFile(file, e.data, 0o644); err != nil {
		return err
	}
	counts := &f.counts[0]
	if e.patch {
		counts = &f.counts[1]
	}
	args := e.arguments(name)
	args["dry_run"] = true
	dry, err := f.server.Use(e.tool(), args)
	if err != nil {
		return err
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, e.data) {
		counts.torn.Add(1)
		f.sample(e, "a dry run has changed the file: %v", err)
	}
	delete(args, "dry_run")
	real, err := f.server.Use(e.tool(), args)
	if err != nil {
		return err
	}
	after, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if real.Failed {
		counts.refused.Add(1)
		if !bytes.Equal(after, e.data) {
			counts.torn.Add(1)
			f.sample(e, "refused, and yet changed to %.300q", after)
		}
		if dry.Text != real.Text {
			counts.dry.Add(1)
			f.sample(e, "the dry run says %s\n  the real one %s", harness.Brief(dry.Text), harness.Brief(real.Text))
		}
		return os.Remove(file)
	}
	if bytes.Equal(after, e.data) { // it puts back what it replaces
		return os.Remove(file)
	}
	counts.edited.Add(1)
	diff := diffOf(dry.Text)
	if shown := diffOf(real.Text); dry.Failed || !e.patch && diff != shown {
		counts.dry.Add(1)
		f.sample(e, "the dry run says %s\n  the real one %s", harness.Brief(dry.Text), harness.Brief(real.Text))
	}
	if problem := e.foretold(diff, after); problem != "" {
		counts.diff.Add(1)
		f.sample(e, "%s\n  the diff is %s\n  the file %.300q", problem, diff, after)
	}
	return errors.Join(f.undo(e, counts, file, name), f.reverse(e, counts, name, diff, after), f.invert(e, counts, name, after), os.Remove(file))
}

// undo takes the change back as the history does.
func (f *fuzzing) undo(e *fuzzed, counts *fuzzedCounts, file, name string) error {
	answer, err := f.server.Use("restore_file", map[string]any{"path": name, "undo": true})
	if err != nil {
		return err
	}
	got, err := os.ReadFile(file)
	if counts.undone.Add(1); err != nil || !bytes.Equal(got, e.data) {
		counts.undoneWrong.Add(1)
		f.sample(e, "undo has made %.300q: %s", got, harness.Brief(answer.Text))
	}
	return nil
}

// reverse makes the change again in a new file and takes it back by the diff that
// the tool itself has shown: where that is the bytes and not what can be seen of
// them, and the encoding need not be named, which a patch cannot do.
func (f *fuzzing) reverse(e *fuzzed, counts *fuzzedCounts, name, diff string, after []byte) error {
	if diff == "" || !e.form.told(after) || e.form.named() || strings.Contains(diff, "\n…") || strings.Contains(diff, `\u{`) {
		return nil
	}
	name += "-reversed"
	file := filepath.Join(f.dir, name)
	if err := os.WriteFile(file, after, 0o644); err != nil {
		return err
	}
	answer, err := f.server.Use("apply_patch", map[string]any{"patch": reversedDiff(diff, name)})
	if err != nil {
		return err
	}
	got, err := os.ReadFile(file)
	if counts.reversed.Add(1); err != nil || !bytes.Equal(got, e.data) {
		counts.reversedWrong.Add(1)
		f.sample(e, "the diff, reversed, of %.300q has made %.300q: %s\n%s", after, got, harness.Brief(answer.Text), diff)
	}
	return os.Remove(file)
}

// invert makes the change again in a new file and takes it back by the lines that
// differ.
func (f *fuzzing) invert(e *fuzzed, counts *fuzzedCounts, name string, after []byte) error {
	edit, ok := e.inverse(after)
	if !ok {
		return nil
	}
	name += "-inverted"
	file := filepath.Join(f.dir, name)
	if err := os.WriteFile(file, after, 0o644); err != nil {
		return err
	}
	args := map[string]any{"path": name, "edits": []map[string]any{edit}}
	if e.form.named() {
		args["encoding"] = e.form.encoding.name
	}
	answer, err := f.server.Use("edit_file", args)
	if err != nil {
		return err
	}
	got, err := os.ReadFile(file)
	if counts.inverse.Add(1); err != nil || !bytes.Equal(got, e.data) {
		counts.inverseWrong.Add(1)
		f.sample(e, "the inverse %q of %.300q has made %.300q: %s", fmt.Sprint(edit), after, got, harness.Brief(answer.Text))
	}
	return os.Remove(file)
}
