package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// editing is one call of edit_file while it is carried out. What it holds of the
// file is what the change found in the end.
type editing struct {
	at     workspace.Path
	path   string // as printed
	edits  []textedit.Edit
	named  *textfile.Encoding // nil = as detected
	expect workspace.Expect
	seen   string // what the caller saw last of the file, "" if nothing is known
	saw    []byte

	old    workspace.Old
	form   textfile.Form
	result textedit.Result
}

func newEditing(ctx context.Context, seen *Seen, path workspace.Path, in EditFileIn) (*editing, error) {
	e := &editing{at: path, path: textfile.Path(path.String())}
	e.seen, e.saw, _ = seen.Last(tools.Session(ctx).Principal, path.String())
	var err error
	if e.expect, err = expectation(in.ExpectedHash); err != nil {
		return nil, err
	}
	if in.Encoding != "" {
		named, err := lookupEncoding(in.Encoding)
		if err != nil {
			return nil, err
		}
		e.named = &named
	}
	for i, edit := range in.Edits {
		one, err := edit.value()
		if err != nil {
			return nil, tools.Errorf(tools.InvalidArgument, "%s: edit %d: %s", e.path, i+1, err.Msg).WithHint("%s", err.Hint)
		}
		e.edits = append(e.edits, one)
	}
	return e, nil
}

// value turns an edit into one of the engine.
func (t TextEdit) value() (textedit.Edit, *tools.Error) {
	bad := func(msg, hint string) (textedit.Edit, *tools.Error) {
		return textedit.Edit{}, &tools.Error{Code: tools.InvalidArgument, Msg: msg, Hint: hint}
	}
	out := textedit.Edit{Old: t.OldText, New: t.NewText, All: t.ReplaceAll, Count: t.ExpectedCount}
	switch {
	case t.StartLine == nil && t.EndLine != nil:
		return bad("end_line without start_line", "give both, or old_text")
	case t.StartLine == nil:
		return out, nil
	case t.OldText == "" && (t.ReplaceAll || t.ExpectedCount > 0):
		return bad("replace_all and expected_count belong to old_text", "leave them out where lines are given by number")
	}
	out.StartLine, out.EndLine = *t.StartLine, *t.StartLine
	if t.EndLine != nil {
		out.EndLine = *t.EndLine
	}
	return out, nil
}

// compute is the Op.New of the change.
func (e *editing) compute(old workspace.Old) ([]byte, error) {
	e.old = old
	switch {
	case !old.Exists:
		return nil, tools.Errorf(tools.NotFound, "%s does not exist any more", e.path).WithHint("write_file makes files")
	case old.Cut:
		return nil, tools.Errorf(tools.TooLarge, "%s has %s; files of up to %d MiB can be edited", e.path, textfile.Size(old.Info.Size), workspace.MaxEdit>>20).
			WithHint("change it with a program such as sed")
	}
	var err error
	if e.form, err = formOf(e.path, old, e.named); err != nil {
		return nil, err
	}
	if e.form.Binary {
		return nil, notText(e.path, old.Data, e.form)
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	text, err := textedit.Parse(old.Data, e.form)
	if err != nil {
		return nil, e.refuse(err.Error(), "", err)
	}
	if e.result, err = text.Apply(e.edits); err != nil {
		m, ok := errors.AsType[*textedit.Mismatch](err)
		if !ok {
			return nil, e.refuse(err.Error(), "", err)
		}
		return nil, e.refuse(m.Msg, m.Detail, err)
	}
	if string(e.result.Data) == string(old.Data) {
		return nil, errUnchanged
	}
	return e.result.Data, nil
}

// check refuses what would spoil the file though it can be done: line numbers of
// another content, characters in a guessed encoding, placeholders.
func (e *editing) check() error {
	byLine := slices.ContainsFunc(e.edits, func(t textedit.Edit) bool { return t.StartLine > 0 && t.Old == "" })
	if byLine && e.expect.Hash == "" && e.changed() {
		return detailed(tools.Conflict, e.path+" has changed since you read it, so its line numbers may have too",
			"give the new numbers, with expected_hash="+identity(e.old), e.since(), nil)
	}
	for _, t := range e.edits {
		c := content{path: e.path, text: t.New}
		if err := c.refuseGuess(e.old, e.form); err != nil {
			return err
		}
		if err := refusePlaceholder(e.at.String(), t.New, func() string { text, _ := shown(e.old.Data, e.form); return text }); err != nil {
			return err
		}
	}
	return nil
}

// changed reports whether the caller saw another content last.
func (e *editing) changed() bool {
	if strings.HasPrefix(e.seen, "v:") {
		return e.seen != e.old.Info.Version()
	}
	return e.seen != "" && e.seen != e.old.Hash
}

// since says what has changed since the caller saw the file.
func (e *editing) since() string {
	text := fmt.Sprintf("hash when you read it: %s\nhash now: %s", e.seen, identity(e.old))
	if e.saw == nil {
		return text
	}
	if what := changes(e.saw, e.old, e.path+" as you read it", e.path+" now"); what != "" {
		text += "\n" + what
	}
	return text
}

// refuse words an edit that does not apply. A file that changed meanwhile is the
// likeliest reason, so that is said too.
func (e *editing) refuse(msg, detail string, cause error) error {
	if e.changed() {
		detail = strings.TrimRight(detail, "\n") + "\n" + e.path + " has changed since you read it:\n" + e.since()
	}
	return detailed(tools.InvalidArgument, e.path+": "+cmp.Or(msg, "the edits do not apply")+"; nothing is changed", "", strings.TrimLeft(detail, "\n"), cause)
}

// formOf is the form of a text that is to be changed, in the encoding that the caller names,
// if any. One that the file itself contradicts is refused: it would hold two then.
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

// missing words a file that cannot be edited since it is not there.
func missing(path workspace.Path, err error) error {
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
