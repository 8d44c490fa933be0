package files

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// writing is one call of write_file while it is carried out. What it holds of the file is what the
// change found in the end.
type writing struct {
	content
	seen string // the hash of the content that the caller may replace, "" = any
	// outdated words that the file has another.
	outdated func(workspace.Old) error
	at       workspace.Path
	mode     string
	old      workspace.Old
	new      composed
	data     []byte // the whole new content, nil of a large file that is appended to
}

// compute is the Op.New of the change.
func (w *writing) compute(old workspace.Old) (_ []byte, err error) {
	w.old = old
	if w.mode == "append" {
		if old.Cut {
			return nil, tools.Errorf(tools.Conflict, "%s has just become large", w.path).WithHint("try again")
		}
		w.new, err = w.extend(old, old.Data)
		w.data = slices.Concat(old.Data, w.new.data)
	} else {
		w.new, err = w.replace(old)
		w.data = w.new.data
	}
	if err == nil {
		err = refusePlaceholder(w.at.String(), w.text, func() string { text, _ := shown(old.Data, w.new.was); return text })
	}
	switch {
	case err != nil:
		return nil, err
	case old.Exists && !old.Cut && string(old.Data) == string(w.data):
		return nil, errUnchanged
	case w.seen != "" && old.Exists && w.seen != old.Hash && w.seen != old.Info.Version():
		return nil, w.outdated(old)
	}
	return w.data, nil
}

// appendLarge prepares to append to a file whose whole content is not wanted in
// memory: its form is that of its head.
func (w *writing) appendLarge(expect workspace.Expect) (workspace.Op, error) {
	file, err := w.at.Open()
	if err != nil {
		return workspace.Op{}, err
	}
	defer file.Close()
	w.old = workspace.Old{Exists: true, Info: file.Info(), Data: make([]byte, headSize), Cut: true}
	tail := make([]byte, 4) // one unit of any encoding
	for at, part := range map[int64][]byte{0: w.old.Data, w.old.Info.Size - int64(len(tail)): tail} {
		if _, err := file.ReadAt(part, at); err != nil && err != io.EOF {
			return workspace.Op{}, err
		}
	}
	if w.new, err = w.extend(w.old, tail); err != nil {
		return workspace.Op{}, err
	}
	err = refusePlaceholder(w.at.String(), w.text, func() string { return "" })
	return workspace.Op{Kind: workspace.OpAppend, Path: w.at, Expect: expect, Data: w.new.data}, err
}

func (w *writing) result(r workspace.Receipt) WriteFileOut {
	done := r.Done[0]
	out := WriteFileOut{Notes: notesOf(w.at.String(), done, w.new.notes)}
	size := int64(len(w.data))
	if done.After != nil {
		size = done.After.Size
	}
	written := w.new.data // without the byte order mark
	if w.mode != "append" || !w.old.Exists || len(w.old.Data) == 0 {
		written = written[w.new.form.BOM:]
	}
	text := strings.ReplaceAll(string(w.new.form.Encoding.Decode(written)), "\r\n", "\n")
	lines := textfile.Count(lineCount(text), "line")
	before, comparable := shown(w.old.Data, w.new.was)
	switch {
	case !w.old.Exists:
		out.Status = fmt.Sprintf("%s: created, %s, %s", w.path, lines, textfile.Size(size))
	case w.mode == "append":
		out.Status = fmt.Sprintf("%s: appended %s, %s; now %s", w.path, lines, textfile.Size(int64(len(w.new.data))), textfile.Size(size))
		if w.data != nil {
			written = w.data[w.new.form.BOM:]
		}
	case comparable && !w.old.Cut:
		out.Status = fmt.Sprintf("%s: overwritten, %s (%s), %s", w.path, lines, plusMinus(before, text), textfile.Size(size))
		out.Diff = diff.Unified(before, text, diff.Options{From: w.path, To: w.path, MaxBytes: replaceDiff})
	default:
		out.Status = fmt.Sprintf("%s: overwritten, %s, %s; it had %s", w.path, lines, textfile.Size(size), textfile.Size(w.old.Info.Size))
	}
	out.Status += describeForm(w.new.form, written) + aftermath(r, done.After, false)
	return out
}
