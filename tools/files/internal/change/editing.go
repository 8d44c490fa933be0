package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// Editing is one call of edit_file under way. Its view of the file is the one that the last
// attempt of the change found.
type Editing struct {
	at     workspace.Path
	Path   string // as printed
	Edits  []textedit.Edit
	named  *textfile.Encoding // nil = as detected
	Expect workspace.Expect
	seen   string // hash of the content that the caller saw last, "" if unknown
	saw    []byte

	Old    workspace.Old
	form   textfile.Form
	Result textedit.Result
}

// Editing prepares a call that edits a file; the caller then sets Edits. expectedHash and
// encoding are as the model writes them, "" for none.
func (w Writer) Editing(ctx context.Context, path workspace.Path, expectedHash, encoding string) (*Editing, error) {
	e := &Editing{at: path, Path: textfile.Path(path.String())}
	e.seen, e.saw, _ = w.Seen.Last(tools.Session(ctx).Principal, path.String())
	var err error
	if e.Expect, err = Expectation(expectedHash); err != nil {
		return nil, err
	}
	if encoding != "" {
		named, err := view.LookupEncoding(encoding)
		if err != nil {
			return nil, err
		}
		e.named = &named
	}
	return e, nil
}

// Compute returns the new content; it is the Op.New of the change.
func (e *Editing) Compute(old workspace.Old) ([]byte, error) {
	e.Old = old
	switch {
	case !old.Exists:
		return nil, tools.Errorf(tools.NotFound, "%s does not exist any more", e.Path).WithHint("write_file makes files")
	case old.Cut:
		return nil, tools.Errorf(tools.TooLarge, "%s has %s; files of up to %s can be edited", e.Path, textfile.Size(old.Info.Size), textfile.Size(workspace.MaxEdit)).
			WithHint("change it with a program such as sed")
	}
	var err error
	if e.form, err = formOf(e.Path, old, e.named); err != nil {
		return nil, err
	}
	if e.form.Binary {
		return nil, view.NotText(e.Path, old.Data, e.form)
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	text, err := textedit.Parse(old.Data, e.form)
	if err != nil {
		return nil, e.refuse(err.Error(), "", err)
	}
	if e.Result, err = text.Apply(e.Edits); err != nil {
		m, ok := errors.AsType[*textedit.Mismatch](err)
		if !ok {
			return nil, e.refuse(err.Error(), "", err)
		}
		return nil, e.refuse(m.Msg, m.Detail, err)
	}
	if string(e.Result.Data) == string(old.Data) {
		return nil, ErrUnchanged
	}
	return e.Result.Data, nil
}

// check refuses edits that apply but would damage the file: line numbers of another content,
// characters in a guessed encoding, placeholders.
func (e *Editing) check() error {
	byLine := slices.ContainsFunc(e.Edits, func(t textedit.Edit) bool { return t.StartLine > 0 && t.Old == "" })
	if byLine && e.Expect.Hash == "" && e.changed() {
		return Detailed(tools.Conflict, e.Path+" has changed since you read it, so its line numbers may have too",
			"give the new numbers, with expected_hash="+Identity(e.Old), e.since(), nil)
	}
	for _, t := range e.Edits {
		c := Content{Path: e.Path, Text: t.New}
		if err := c.refuseGuess(e.Old, e.form); err != nil {
			return err
		}
		if err := refusePlaceholder(e.at.String(), t.New, func() string { text, _ := Shown(e.Old.Data, e.form); return text }); err != nil {
			return err
		}
	}
	return nil
}

// changed reports whether the file has changed since the caller last saw it.
func (e *Editing) changed() bool {
	if strings.HasPrefix(e.seen, "v:") {
		return e.seen != e.Old.Info.Version()
	}
	return e.seen != "" && e.seen != e.Old.Hash
}

// since describes the changes since the caller saw the file.
func (e *Editing) since() string {
	text := fmt.Sprintf("hash when you read it: %s\nhash now: %s", view.ShortHash(e.seen), Identity(e.Old))
	if e.saw == nil {
		return text
	}
	if what := changes(e.saw, e.Old, e.Path+" as you read it", e.Path+" now"); what != "" {
		text += "\n" + what
	}
	return text
}

// refuse returns the error of an edit that does not apply. If the file has changed meanwhile,
// that is the likeliest reason, so the error says so.
func (e *Editing) refuse(msg, detail string, cause error) error {
	if e.changed() {
		detail = strings.TrimRight(detail, "\n") + "\n" + e.Path + " has changed since you read it:\n" + e.since()
	}
	return Detailed(tools.InvalidArgument, e.Path+": "+cmp.Or(msg, "the edits do not apply")+"; nothing is changed", "", strings.TrimLeft(detail, "\n"), cause)
}

// formOf returns the form of a text to change, in the encoding that the caller names, if any.
// It refuses an encoding that the file contradicts: the file would mix two encodings.
func formOf(path string, old workspace.Old, named *textfile.Encoding) (textfile.Form, error) {
	was := textfile.Sniff(old.Data, true)
	if named == nil {
		return was, nil
	}
	if !was.Binary && !mixes(old, was, *named) {
		return was, tools.Errorf(tools.InvalidArgument, "%s is %s; encoding=%s would make it hold two; nothing is changed", path, was.Encoding.Name(), named.Name()).
			WithHint("leave encoding out; write_file with mode=overwrite converts the file")
	}
	form := textfile.Form{Encoding: *named}
	if bom, n := textfile.BOM(old.Data); n > 0 && bom.Name() == named.Name() {
		form.BOM = n
	}
	return form, nil
}

// Missing returns the error for a file that cannot be edited since it does not exist.
func Missing(path workspace.Path, err error) error {
	if err != nil {
		return err
	}
	if _, err = path.Stat(); err == nil {
		return tools.Errorf(tools.Conflict, "%s has just been made", textfile.Path(path.String())).WithHint("read it")
	}
	e := tools.AsError(err)
	hint := "write_file makes files"
	if e.Hint != "" {
		hint = e.Hint + "; " + hint
	}
	return e.WithHint("%s", hint)
}

// Report returns the result.
func (e *Editing) Report(r workspace.Receipt, dryRun bool) Report {
	lines := make([]int, len(e.Result.Hunks))
	for i, h := range e.Result.Hunks {
		lines[i] = h.NewLine
	}
	done := r.Done[0]
	verb := "edited"
	if dryRun {
		verb = "not written (dry run)"
	}
	at := "line "
	if len(lines) != 1 {
		at = "lines "
	}
	before, _ := Shown(e.Old.Data, e.form)
	now, _ := Shown(e.Result.Data, e.form)
	return Report{
		Status: fmt.Sprintf("%s: %s, %s at %s%s; %s%s%s", e.Path, verb, textfile.Count(e.Result.Replacements, "replacement"), at, numberList(lines),
			PlusMinus(before, now), describeForm(e.form, e.Result.Data[e.form.BOM:]), Aftermath(r, done.After, dryRun)),
		Notes: notesOf(e.at.String(), done, e.Result.Notes),
		Diff:  diff.Unified(before, now, diff.Options{From: e.Path, To: e.Path, MaxBytes: EditDiff}),
	}
}
