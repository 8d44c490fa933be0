package losses

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// Tally adds up what one call deletes and replaces. The zero Tally is ready for use.
type Tally struct {
	// Unignored leaves out what is in directories that git ignores, of which programs leave
	// nothing in the history.
	Unignored bool

	rules map[workspace.Path]*fileindex.Ignored // of the roots
	lost  []string                              // one text for each
	names []string                              // of what the history keeps, taken by itself
	kept  Holding                               // its content
	took  time.Duration
}

// maxTime is how long a Tally measures the directories of one call.
const maxTime = 3 * time.Second

// maxTold is the most losses that a question names.
const maxTold = 10

// Delete adds the deletion of a file, a symlink, or with recursive a directory.
func (t *Tally) Delete(ctx context.Context, path workspace.Path, recursive bool) error {
	info, exists, err := path.Find(false)
	if err != nil || !exists {
		return nil //nolint:nilerr // the call itself refuses the path
	}
	if info.Kind != workspace.KindDirectory {
		t.gone(ctx, path, false, func(there string) string { return "delete " + there })
		return nil
	}
	if !recursive {
		return nil
	}
	return t.directory(ctx, path, nil, func(what string) string {
		return fmt.Sprintf("delete the directory %s %s", textfile.Path(path.String()), what)
	})
}

// DeleteNamed adds the deletion of the files below a directory whose names match a pattern.
func (t *Tally) DeleteNamed(ctx context.Context, dir workspace.Path, pattern string) error {
	matches := func(e fileindex.Entry) bool {
		ok, err := path.Match(pattern, path.Base(e.Rel))
		return err == nil && ok
	}
	return t.directory(ctx, dir, matches, func(what string) string {
		return fmt.Sprintf("delete what %s names below %s, %s", textfile.Quoted(pattern), textfile.Path(dir.String()), what)
	})
}

// DeleteSome adds the deletion of the files below a directory for which gone returns true; which
// names them: "what git does not track".
func (t *Tally) DeleteSome(ctx context.Context, dir workspace.Path, which string, gone func(fileindex.Entry) bool) error {
	return t.directory(ctx, dir, gone, func(what string) string {
		return fmt.Sprintf("delete %s below %s, %s", which, textfile.Path(dir.String()), what)
	})
}

// Overwrite adds that the content of a file is replaced, through links.
func (t *Tally) Overwrite(ctx context.Context, path workspace.Path) {
	t.gone(ctx, path, true, func(there string) string { return "overwrite " + there })
}

// Overwriting returns the question to ask before a call writes a whole file by name.
func Overwriting(ctx context.Context, name string) (tools.Question, error) {
	path, err := tools.Resolve(ctx, name)
	if err != nil {
		return tools.Question{}, err
	}
	var lost Tally
	lost.Overwrite(ctx, path)
	return lost.Question(ctx), nil
}

// Replace adds that source takes the place of to; verb is move, copy or link. With follow it
// takes the place of what the links of to lead to. With tree, to may be a directory.
func (t *Tally) Replace(ctx context.Context, verb, source string, to workspace.Path, follow, tree bool) error {
	t.gone(ctx, to, follow, func(there string) string { return fmt.Sprintf("%s %s over %s", verb, textfile.Path(source), there) })
	if !tree {
		return nil
	}
	return t.directory(ctx, to, nil, func(what string) string {
		return fmt.Sprintf("%s %s to %s, replacing that directory %s", verb, textfile.Path(source), textfile.Path(to.String()), what)
	})
}

// leaves returns what leaves out paths of the root of p; nil = nothing is left out.
func (t *Tally) leaves(p workspace.Path) func(p workspace.Path, dir bool) bool {
	if !t.Unignored {
		return nil
	}
	root := p.Root()
	if t.rules[root] == nil {
		if t.rules == nil {
			t.rules = map[workspace.Path]*fileindex.Ignored{}
		}
		t.rules[root] = fileindex.NewIgnored(p)
	}
	return t.rules[root].Below
}

// gone adds a file or symlink whose content is lost.
func (t *Tally) gone(ctx context.Context, path workspace.Path, follow bool, word func(there string) string) {
	info, exists, err := path.Find(follow)
	if err != nil || !exists {
		return // the call itself refuses a path that cannot be read
	}
	if leave := t.leaves(path); leave != nil && leave(path, false) {
		return
	}
	switch there, why := irreversible(ctx, path, info); {
	case why != "":
		t.lost = append(t.lost, word(there)+"; "+why)
	case info.Kind == workspace.KindFile:
		t.names = append(t.names, textfile.Path(path.String()))
		t.kept.Files++
		t.kept.bytes += info.Size
	}
}

// directory adds what a directory holds of the entries for which only returns true, nil = all.
func (t *Tally) directory(ctx context.Context, path workspace.Path, only func(fileindex.Entry) bool, word func(what string) string) error {
	leave := t.leaves(path)
	if leave != nil && leave(path, true) {
		return nil
	}
	begun := time.Now()
	limited, cancel := context.WithTimeout(ctx, maxTime-t.took)
	defer cancel()
	held, err := measure(limited, path, leave, only)
	t.took += time.Since(begun)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && only == nil: // else it may lose nothing
		t.lost = append(t.lost, word("that takes more than "+maxTime.String()+" to count")+"; what the history does not keep of it cannot come back")
		return nil
	case err != nil || held.Empty():
		return err
	}
	if lost := held.Lost(ctx); lost != "" {
		t.lost = append(t.lost, word("with "+held.String())+"; "+lost)
		return nil
	}
	t.names = append(t.names, textfile.Path(path.String()))
	t.kept.add(held)
	return nil
}

// Question asks about what is lost; the zero Question if nothing is.
func (t *Tally) Question(ctx context.Context) tools.Question {
	lost := slices.Clip(t.lost)
	if len(t.names) > 1 { // each by itself would be kept
		if why := t.kept.Lost(ctx); why != "" {
			lost = append(lost, fmt.Sprintf("delete or replace %s and %d more, with %s; %s", t.names[0], len(t.names)-1, t.kept, why))
		}
	}
	if more := len(lost) - maxTold; more > 0 {
		lost = append(lost[:maxTold], fmt.Sprintf("and %d more", more))
	}
	return tools.Question{Message: strings.Join(lost, "\n")}
}
