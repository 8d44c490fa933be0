package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

const (
	// comparedSize is the largest content whose lines are compared, in bytes.
	comparedSize = 1 << 20
	// comparedTotal is how many bytes of content one result reads for that.
	comparedTotal = 32 << 20
	// listedParts is the most files of one change that a list of changes names.
	listedParts = 5
)

// Historian describes the changes of the history.
type Historian struct {
	ctx  context.Context
	ws   *workspace.Workspace
	room int64 // bytes of content that may still be read
}

// NewHistorian returns the historian of one call.
func NewHistorian(ctx context.Context) *Historian {
	return &Historian{ctx: ctx, ws: tools.Session(ctx).Workspace, room: comparedTotal}
}

// LostChanges describes the changes that the history is known to have lost, "" for none.
func LostChanges(ctx context.Context) (string, error) {
	gap, err := tools.Session(ctx).Workspace.Gap(ctx)
	if gap == nil || err != nil {
		return "", err
	}
	which := "all that were there then"
	if !gap.After.IsZero() {
		which = "those made after " + gap.After.UTC().Format(time.RFC3339)
	}
	return "changes are missing: the log of the history was found cut or removed at " + gap.Noticed.UTC().Format(time.RFC3339) +
		", with " + which, nil
}

// WithLost adds the lost changes of the history to an error that may result from them: a
// change is missing, or a file differs from what its last change left.
func WithLost(err error, lost string) error {
	e, ok := errors.AsType[*tools.Error](err)
	if lost == "" || !ok || e.Code != tools.NotFound && e.Code != tools.Conflict {
		return err
	}
	c := *e
	c.Msg += "; " + lost
	return &c
}

// WithOlder adds to the error of an undo how to go on with the change before.
func WithOlder(ctx context.Context, err error, path workspace.Path, stuck []workspace.Record) error {
	e := tools.AsError(err)
	older, none := LastChanges(ctx, path, stuck...)
	if none != nil {
		return err
	}
	hint := fmt.Sprintf("undo=true version=%s takes back the change before", older[0].ID)
	if e.Hint != "" {
		hint = e.Hint + "; " + hint
	}
	return e.WithHint("%s", hint)
}

// Part is the effect of a change on one path.
type Part struct {
	workspace.Changed
	path workspace.Path
	from workspace.Path // where it was moved or copied from; zero if that is outside the workspace of the call
}

// parts returns the effects of a change at and below a path, or everywhere if the path is
// zero. If something was removed and something created at one path, that is one part.
func (b *Historian) parts(rec workspace.Record, below workspace.Path) []Part {
	var parts []Part
	at := map[string]int{} // path -> index in parts
	for i, c := range rec.Files {
		path, ok := b.ws.Historical(rec, i)
		if !ok || !within(path, below) {
			continue
		}
		p := Part{Changed: c, path: path}
		p.from, _ = b.at(rec, c.From)
		if n, ok := at[path.String()]; ok {
			p.Before = cmp.Or(p.Before, parts[n].Before)
			parts[n] = p
			continue
		}
		at[path.String()] = len(parts)
		parts = append(parts, p)
	}
	return parts
}

// at returns the path that has a name in a record; false if it is outside the workspace of the call.
func (b *Historian) at(rec workspace.Record, name string) (workspace.Path, bool) {
	rec.Files = []workspace.Changed{{Path: name}}
	return b.ws.Historical(rec, 0)
}

// concerns reports whether the part is at or below dir, with left also if it was moved away from
// there.
func (p Part) concerns(dir workspace.Path, left bool) bool {
	return within(p.path, dir) || left && p.came() && p.from != (workspace.Path{}) && within(p.from, dir)
}

// came reports whether the part was moved to its path.
func (p Part) came() bool { return p.Kind == workspace.OpMove && p.From != "" }

// within reports whether p is dir or below it. Every path is within the zero Path.
func within(p, dir workspace.Path) bool {
	if dir == (workspace.Path{}) {
		return true
	}
	name, top := p.String(), dir.String()
	return name == top || strings.HasPrefix(name, top+"/") || top == "."
}

// Head describes a change: its ID, time and tool, the change that it reverted, and who made it
// unless that is the caller.
func (b *Historian) Head(rec workspace.Record) string {
	text := fmt.Sprintf("%s %s %s", rec.ID, rec.Time.UTC().Format(time.RFC3339), rec.Tool)
	switch {
	case rec.Partly:
		text += " undoing a part of " + rec.Undoes
	case rec.Undoes != "":
		text += " undoing " + rec.Undoes
	}
	switch session := tools.Session(b.ctx); {
	case rec.Principal != session.Principal:
		text += " by " + textfile.Path(rec.Principal)
	case rec.Client != "" && rec.Client != session.Client.Name:
		text += " by " + textfile.Path(rec.Client)
	}
	return text
}

// NotKept marks a content that cannot be restored.
func (b *Historian) NotKept(v *workspace.Version) string {
	if v == nil || v.Kind != workspace.KindFile || v.Kept {
		return ""
	}
	return "; the content before is not kept"
}

// text returns a former content as a diff takes it; ok is false if it is unknown, large or not
// text. A content that has not changed since is read from its path.
func (b *Historian) text(v *workspace.Version, path workspace.Path) (text string, ok bool) {
	if v == nil {
		return "", true
	}
	if v.Kind != workspace.KindFile || v.Size > min(comparedSize, b.room) || v.Hash == "" {
		return "", false
	}
	b.room -= v.Size
	data, err := b.read(v)
	if err != nil {
		if data, err = b.current(path, v); err != nil || data == nil {
			return "", false
		}
	}
	return change.Shown(data, textfile.Sniff(data, true))
}

// read reads a content that the history keeps.
func (b *Historian) read(v *workspace.Version) ([]byte, error) {
	kept, size, err := b.ws.Kept(b.ctx, v)
	if err != nil {
		return nil, err
	}
	defer kept.Close()
	data := make([]byte, size)
	_, err = io.ReadFull(kept, data)
	return data, err
}

// copyTo writes a content that the history keeps.
func (b *Historian) copyTo(to io.Writer, v *workspace.Version) error {
	kept, _, err := b.ws.Kept(b.ctx, v)
	if err != nil {
		return err
	}
	defer kept.Close()
	_, err = io.Copy(to, kept)
	return err
}

// current reads a file if its content is the version.
func (b *Historian) current(path workspace.Path, v *workspace.Version) ([]byte, error) {
	now, err := look(b.ctx, path, v)
	if err != nil || !now.is(v) {
		return nil, err
	}
	return view.ReadAll(path, comparedSize)
}

// Diff compares the content before a change with that after it, against "change", or
// the present one, against "current".
func (b *Historian) Diff(p Part, against, version string, room int) string {
	if v := present(p.Changed); v == nil || v.Kind != workspace.KindFile || p.From != "" && p.Before == nil && against == "change" {
		return ""
	}
	before, ok := b.text(p.Before, p.path)
	name := textfile.Path(p.path.String())
	opt := diff.Options{From: name + " before", To: name + " after", MaxBytes: room}
	after, ok2 := b.text(p.After, p.path)
	if against == "current" {
		opt.To = name + " now"
		after, ok2 = b.now(p.path)
	}
	switch {
	case !ok || !ok2:
		return "(no diff: not text, too large, or not kept)\n"
	case before == after && against == "current":
		return "(as before the change)\n"
	case room < 500:
		return fmt.Sprintf("(no room for its diff: path=%s version=%s shows it)\n", textfile.Quoted(p.path.String()), version)
	}
	text := diff.Unified(before, after, opt)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// now returns the present content of a path as a diff takes it; it is empty for a file that
// does not exist.
func (b *Historian) now(path workspace.Path) (text string, ok bool) {
	data, err := view.ReadAll(path, comparedSize)
	if e := tools.AsError(err); e != nil {
		return "", e.Code == tools.NotFound
	}
	return change.Shown(data, textfile.Sniff(data, true))
}
