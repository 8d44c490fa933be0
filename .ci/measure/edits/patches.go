package edits

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"toolcrib/.ci/measure/harness"
)

// Patches applies the changes of real commits as patches, as they are and as models write
// them, and compares what comes out with what the commit has. git apply and GNU patch get
// the same diffs. Then it cuts patches off at every byte.
//
// PATCH_REPOSITORIES lists git directories, as PATH does; without it the history of this
// project is taken.
func Patches(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("patches")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	commits, changes, err := collectChanges(ctx, env.Of(3000, 30))
	if err != nil {
		return err
	}
	seed := harness.NewSeed()
	fmt.Printf("%d changed files of %d commits\n\n", len(changes), commits)
	server, err := harness.UseTools(ctx, env.Writer(dir, "--durable=false"))
	if err != nil {
		return err
	}
	forms := patchForms()
	appliers := []patchApplier{ownPatch(server, dir), gitApply(filepath.Join(base, "git")), gnuPatch(filepath.Join(base, "gnu"))}
	for _, a := range appliers[1:] {
		if err := os.Mkdir(a.dir, 0o755); err != nil {
			return err
		}
	}
	if err := applyAll(ctx, changes, forms, appliers, seed); err != nil {
		return err
	}
	failed := judgePatches(forms, appliers, env.Full())
	return errors.Join(failed, cutPatches(server, dir, changes, env.Of(50, 4)), server.Close())
}

// patchForm is a way to write the change of a file, and the tallies of who applied it.
type patchForm struct {
	name     string
	context  int  // lines
	before   int  // lines put before the file
	lies     bool // its line numbers are false
	envelope bool

	tallies *[3]patchTally // of who is asked
}

// patchTally counts by one applier. Of what is unique each hunk fits in one place only.
type patchTally struct {
	right, refused, wrong             atomic.Int64
	uniqueRefused, uniqueWrong, asked atomic.Int64
}

func patchForms() []*patchForm {
	var forms []*patchForm
	for _, lines := range []int{3, 1} {
		for _, f := range []patchForm{{name: "as it is"}, {name: "3 lines before", before: 3}, {name: "30 lines before", before: 30}, {name: "false line numbers", lies: true}} {
			f.context, f.tallies = lines, &[3]patchTally{}
			forms = append(forms, &f)
		}
	}
	return append(forms, &patchForm{name: "envelope without anchors", context: 3, envelope: true, tallies: &[3]patchTally{}})
}

// text is the change of a file in this form.
func (f *patchForm) text(c fileChange, name string, rng *rand.Rand) string {
	hunks := c.hunks[f.context]
	var b strings.Builder
	if f.envelope {
		fmt.Fprintf(&b, "*** Begin Patch\n*** Update File: %s\n", name)
		for _, h := range hunks {
			b.WriteString("@@\n" + h.body)
		}
		return b.String() + "*** End Patch\n"
	}
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", name, name)
	for _, h := range hunks {
		if f.lies {
			h = h.lying(rng, strings.Count(c.before, "\n"))
		}
		b.WriteString(h.head() + h.body)
	}
	return b.String()
}

// put puts lines before a file.
func put(lines int, text string) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d of %d put before\n", i+1, lines)
	}
	return b.String() + text
}

// applyAll gives every change in every form to every applier.
func applyAll(ctx context.Context, changes []fileChange, forms []*patchForm, appliers []patchApplier, seed uint64) error {
	var wg sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, 4)
	for worker := range errs {
		wg.Go(func() {
			for ctx.Err() == nil && errs[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(changes) {
					return
				}
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				for _, f := range forms {
					errs[worker] = errors.Join(errs[worker], f.apply(ctx, changes[i], appliers, fmt.Sprintf("%d.txt", worker), rng))
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errors.Join(errs...), ctx.Err())
}

// apply gives a change in this form to every applier.
func (f *patchForm) apply(ctx context.Context, c fileChange, appliers []patchApplier, name string, rng *rand.Rand) error {
	text := f.text(c, name, rng)
	before, want := put(f.before, c.before), put(f.before, c.after)
	unique := true
	for _, h := range c.hunks[f.context] {
		unique = unique && h.places(before) == 1
	}
	for i, a := range appliers {
		if f.envelope && !a.envelopes {
			continue
		}
		file := filepath.Join(a.dir, name)
		if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
			return err
		}
		applied, err := a.apply(ctx, text, name)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		t := &f.tallies[i]
		t.asked.Add(1)
		switch {
		case !applied && i == 0 && string(got) != before:
			return fmt.Errorf("%s: refused, and yet changed", c.from)
		case !applied:
			t.refused.Add(1)
			if unique {
				t.uniqueRefused.Add(1)
			}
		case string(got) == want:
			t.right.Add(1)
		default:
			t.wrong.Add(1)
			if unique {
				t.uniqueWrong.Add(1)
			}
			if i == 0 {
				fmt.Printf("- wrong: %s, %d lines of context: %s\n", f.name, f.context, c.from)
			}
		}
	}
	return nil
}

// judgePatches prints the tallies and holds them to what is wanted. With few commits, as not
// in full, chance alone can put a patch into a place that its false line numbers name.
func judgePatches(forms []*patchForm, appliers []patchApplier, full bool) error {
	fmt.Println("| patches of commits | lines of context | tool | applied | refused | wrong place | of hunks that fit in one place only: refused | wrong |\n|---|---|---|---|---|---|---|---|")
	var failed []error
	var open [3]patchSum // of the forms in which a line number can name a wrong place that fits
	for _, f := range forms {
		for i, a := range appliers {
			t := &f.tallies[i]
			n := patchSum{t.asked.Load(), t.refused.Load(), t.wrong.Load()}
			if n.asked == 0 {
				continue
			}
			fmt.Printf("| %s | %d | %s | %d | %d (%.2f %%) | %d | %d | %d |\n", f.name, f.context, a.name, t.right.Load(), n.refused,
				n.share(), n.wrong, t.uniqueRefused.Load(), t.uniqueWrong.Load())
			if f.open() {
				open[i].add(n)
			}
			if i > 0 {
				continue
			}
			switch {
			case t.uniqueWrong.Load() > 0, !f.open() && n.wrong > 0:
				failed = append(failed, fmt.Errorf("%s, %d lines of context: %d in a wrong place", f.name, f.context, n.wrong))
			case f.envelope && n.share() > 6, !f.envelope && !f.open() && n.share() > 2:
				failed = append(failed, fmt.Errorf("%s, %d lines of context: %d of %d refused", f.name, f.context, n.refused, n.asked))
			}
		}
	}
	for i, a := range appliers {
		if n := open[i]; n.asked > 0 {
			fmt.Printf("| false numbers, or moved with one line of context | | %s | %d | %d (%.2f %%) | %d | | |\n", a.name, n.asked-n.refused-n.wrong, n.refused, n.share(), n.wrong)
		}
	}
	if own := open[0]; own.share() > 2 || full && own.wrong > 0 && own.wrong >= open[2].wrong {
		failed = append(failed, fmt.Errorf("false numbers, or moved with one line of context: %.2f %% refused, %d in a wrong place, %d of GNU patch", own.share(), own.wrong, open[2].wrong))
	}
	return errors.Join(failed...)
}

// open reports whether a line number can name a place that fits and is wrong.
func (f *patchForm) open() bool { return f.lies || f.context == 1 && f.before > 0 }

// patchSum is tallies put together.
type patchSum struct{ asked, refused, wrong int64 }

func (s *patchSum) add(n patchSum) {
	s.asked, s.refused, s.wrong = s.asked+n.asked, s.refused+n.refused, s.wrong+n.wrong
}

// share is the refused in percent.
func (s patchSum) share() float64 { return 100 * float64(s.refused) / float64(max(s.asked, 1)) }

// patchApplier applies the patch of a file in its directory, and reports whether it did.
type patchApplier struct {
	name      string
	dir       string
	envelopes bool
	apply     func(ctx context.Context, text, name string) (applied bool, err error)
}

func ownPatch(server *harness.ToolUser, dir string) patchApplier {
	return patchApplier{"toolcrib apply_patch", dir, true, func(_ context.Context, text, _ string) (bool, error) {
		answer, err := server.Use("apply_patch", map[string]any{"patch": text})
		return !answer.Failed, err
	}}
}

func gitApply(dir string) patchApplier {
	return patchApplier{"git apply", dir, false, func(ctx context.Context, text, _ string) (bool, error) {
		return patchedBy(ctx, dir, text, "git", "apply", "-")
	}}
}

func gnuPatch(dir string) patchApplier {
	return patchApplier{"GNU patch", dir, false, func(ctx context.Context, text, name string) (bool, error) {
		return patchedBy(ctx, dir, text, "patch", "--force", "--silent", "--no-backup-if-mismatch", "--reject-file=-", name)
	}}
}

// patchedBy gives a patch to a program on its standard input.
func patchedBy(ctx context.Context, dir, text, name string, args ...string) (applied bool, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(text)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+dir, "GIT_DIR=/nonexistent")
	err = cmd.Run()
	if _, refused := errors.AsType[*exec.ExitError](err); refused {
		return false, nil
	}
	return err == nil, err
}
