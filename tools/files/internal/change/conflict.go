package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// conflictDiff is the most bytes of a diff of what changed behind the caller's back.
const conflictDiff = 2_000

// Explain returns the error of a change as the model reads it: a conflict with the lines that
// changed, several errors as one with all of them, any other error as it is.
func (w Writer) Explain(ctx context.Context, err error) error {
	var worded []*tools.Error
	for _, e := range leaves(err) {
		if c, ok := errors.AsType[*workspace.ConflictError](e); ok {
			worded = append(worded, w.conflict(ctx, c))
		} else {
			worded = append(worded, tools.AsError(e))
		}
	}
	if len(worded) == 1 {
		return worded[0]
	}
	return together(worded)
}

// leaves returns the single errors of joined ones.
func leaves(err error) []error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e := e.(type) {
		case *tools.Error, *workspace.Error, *workspace.ConflictError:
			return []error{err}
		case interface{ Unwrap() []error }:
			var all []error
			for _, part := range e.Unwrap() {
				all = append(all, leaves(part)...)
			}
			return all
		}
	}
	return []error{err}
}

// together joins several errors into one, with the code of the first. Each gets a share of the
// length of an error; those without room are counted.
func together(errs []*tools.Error) *tools.Error {
	const head, least = 200, 200 // bytes of the first and last line, and of an error
	room := tools.MaxErrorText - head
	share := max((room-head)/len(errs), least)
	var b strings.Builder
	fmt.Fprintf(&b, "%s; nothing is changed", textfile.Count(len(errs), "problem"))
	for i, e := range errs {
		text := "\n" + shorten(e.Error(), share-1)
		if b.Len()+len(text) > room {
			fmt.Fprintf(&b, "\nand %d more", len(errs)-i)
			break
		}
		b.WriteString(text)
	}
	return &tools.Error{Code: errs[0].Code, Msg: b.String(), Err: errs[0]}
}

// shorten cuts a text after whole lines, where it has some, and says so.
func shorten(text string, most int) string {
	const mark = "\n[cut]"
	if len(text) <= most {
		return text
	}
	text = strings.ToValidUTF8(text[:max(most-len(mark), 0)], "")
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		text = text[:i]
	}
	return text + mark
}

// conflict describes the content at a path that differs from the expected content, with a diff
// if that content is known.
func (w Writer) conflict(ctx context.Context, c *workspace.ConflictError) *tools.Error {
	name := textfile.Path(c.Path)
	switch {
	case c.Want == "" && c.Old.Exists:
		return &tools.Error{Code: tools.AlreadyExists, Msg: name + " exists already", Err: c}
	case c.Want == "":
		return &tools.Error{Code: tools.Conflict, Msg: name + " is changed by others all the time", Hint: "try again", Err: c}
	case !c.Old.Exists:
		return &tools.Error{
			Code: tools.Conflict, Msg: name + " does not exist any more", Err: c,
			Hint: "expected_hash names a content that it had; without it the file is made anew",
		}
	}
	why := fmt.Sprintf("%s is not what expected_hash names: it has hash %s now", name, Identity(c.Old))
	was, known := w.former(ctx, c.Want)
	if !known {
		e := tools.Errorf(tools.Conflict, "%s", why).WithHint("read it again; its former content is not known here")
		e.Err = c
		return e
	}
	detail := changes(was, c.Old, "expected", "now")
	if detail != "" {
		detail = "what changed:\n" + detail
	}
	return Detailed(tools.Conflict, why, "see what changed, then call again with that hash", detail, c)
}

// Stale refuses to overwrite or delete a file that differs from what the caller saw there
// last. effect describes a call with expected_hash: "overwrites it".
func (w Writer) Stale(ctx context.Context, name, seen string, now workspace.Old, effect string) error {
	why := fmt.Sprintf("%s has changed since you saw it last", name)
	hint := fmt.Sprintf("expected_hash=%s %s", Identity(now), effect)
	detail := ""
	if was, known := w.former(ctx, seen); known {
		detail = changes(was, now, "seen", "now")
	}
	if detail != "" {
		detail = "what changed:\n" + detail
	}
	return Detailed(tools.Conflict, why, hint, detail, nil)
}

// former returns a content by its hash, if the caller saw it or the history keeps it.
func (w Writer) former(ctx context.Context, hash string) ([]byte, bool) {
	session := tools.Session(ctx)
	if data, ok := w.Seen.ByHash(session.Principal, hash); ok {
		return data, true
	}
	kept, size, err := session.Workspace.Kept(ctx, &workspace.Version{Hash: hash})
	if err != nil {
		return nil, false // not kept, or no history: the answer is the same
	}
	defer kept.Close()
	if size > view.WholeSize {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(kept, size))
	return data, err == nil
}

// changes returns the diff from a former content to the present one, "" if one of the two is
// not text or is too large.
func changes(was []byte, now workspace.Old, from, to string) string {
	if now.Cut || now.Data == nil && now.Info.Size > 0 {
		return ""
	}
	before, ok := Shown(was, textfile.Sniff(was, true))
	after, ok2 := Shown(now.Data, textfile.Sniff(now.Data, true))
	if !ok || !ok2 {
		return ""
	}
	return diff.Unified(before, after, diff.Options{From: from, To: to, MaxBytes: conflictDiff})
}

// Identity returns the value of expected_hash for a file.
func Identity(old workspace.Old) string {
	if old.Hash != "" {
		return view.ShortHash(old.Hash)
	}
	return old.Info.Version()
}

// Detailed makes an error: its first line has the message and the hint, the detail follows.
func Detailed(code tools.Code, msg, hint, detail string, cause error) *tools.Error {
	if detail == "" {
		return &tools.Error{Code: code, Msg: msg, Hint: hint, Err: cause}
	}
	if hint != "" {
		msg += " (" + hint + ")"
	}
	return &tools.Error{Code: code, Msg: msg + "\n" + strings.TrimRight(detail, "\n"), Err: cause}
}
