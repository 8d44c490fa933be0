package change

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// Writing is one call of write_file under way. Its view of the file is the one that the last
// attempt of the change found.
type Writing struct {
	Content
	Seen string // the hash of the content that the caller may replace, "" = any
	// Outdated returns the error for a file that has another hash.
	Outdated func(workspace.Old) error
	At       workspace.Path
	Mode     string
	Old      workspace.Old
	new      composed
	data     []byte // the whole new content, nil of a large file that is appended to
}

// Compute returns the new content; it is the Op.New of the change.
func (w *Writing) Compute(old workspace.Old) (_ []byte, err error) {
	w.Old = old
	if w.Mode == "append" {
		if old.Cut {
			return nil, tools.Errorf(tools.Conflict, "%s has just become large", w.Path).WithHint("try again")
		}
		w.new, err = w.extend(old, old.Data)
		w.data = slices.Concat(old.Data, w.new.data)
	} else {
		w.new, err = w.replace(old)
		w.data = w.new.data
	}
	if err == nil {
		err = refusePlaceholder(w.At.String(), w.Text, func() string { text, _ := Shown(old.Data, w.new.was); return text })
	}
	switch {
	case err != nil:
		return nil, err
	case old.Exists && !old.Cut && string(old.Data) == string(w.data):
		return nil, ErrUnchanged
	case w.Seen != "" && old.Exists && w.Seen != old.Hash && w.Seen != old.Info.Version():
		return nil, w.Outdated(old)
	}
	return w.data, nil
}

// AppendLarge prepares to append to a file that is too large to hold in memory: its form is
// detected from its head.
func (w *Writing) AppendLarge(expect workspace.Expect) (workspace.Op, error) {
	file, err := w.At.Open()
	if err != nil {
		return workspace.Op{}, err
	}
	defer file.Close()
	w.Old = workspace.Old{Exists: true, Info: file.Info(), Data: make([]byte, view.HeadSize), Cut: true}
	tail := make([]byte, 4) // one unit of any encoding
	for at, part := range map[int64][]byte{0: w.Old.Data, w.Old.Info.Size - int64(len(tail)): tail} {
		if _, err := file.ReadAt(part, at); err != nil && err != io.EOF {
			return workspace.Op{}, err
		}
	}
	if w.new, err = w.extend(w.Old, tail); err != nil {
		return workspace.Op{}, err
	}
	err = refusePlaceholder(w.At.String(), w.Text, func() string { return "" })
	return workspace.Op{Kind: workspace.OpAppend, Path: w.At, Expect: expect, Data: w.new.data}, err
}

// Report returns the result.
func (w *Writing) Report(r workspace.Receipt) Report {
	done := r.Done[0]
	out := Report{Notes: notesOf(w.At.String(), done, w.new.notes)}
	size := int64(len(w.data))
	if done.After != nil {
		size = done.After.Size
	}
	written := w.new.data // without the byte order mark
	if w.Mode != "append" || !w.Old.Exists || len(w.Old.Data) == 0 {
		written = written[w.new.form.BOM:]
	}
	text := strings.ReplaceAll(string(w.new.form.Encoding.Decode(written)), "\r\n", "\n")
	lines := textfile.Count(lineCount(text), "line")
	before, comparable := Shown(w.Old.Data, w.new.was)
	switch {
	case !w.Old.Exists:
		out.Status = fmt.Sprintf("%s: created, %s, %s", w.Path, lines, textfile.Size(size))
	case w.Mode == "append":
		out.Status = fmt.Sprintf("%s: appended %s, %s; now %s", w.Path, lines, textfile.Size(int64(len(w.new.data))), textfile.Size(size))
		if w.data != nil {
			written = w.data[w.new.form.BOM:]
		}
	case comparable && !w.Old.Cut:
		out.Status = fmt.Sprintf("%s: overwritten, %s (%s), %s", w.Path, lines, PlusMinus(before, text), textfile.Size(size))
		out.Diff = diff.Unified(before, text, diff.Options{From: w.Path, To: w.Path, MaxBytes: replaceDiff})
	default:
		out.Status = fmt.Sprintf("%s: overwritten, %s, %s; it had %s", w.Path, lines, textfile.Size(size), textfile.Size(w.Old.Info.Size))
	}
	out.Status += describeForm(w.new.form, written) + Aftermath(r, done.After, false)
	return out
}
