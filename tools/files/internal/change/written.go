package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// Most bytes of a diff, by its purpose.
const (
	EditDiff    = 12_000 // what an edit did
	replaceDiff = 4_000  // what replacing a whole file did
)

// Writer carries out changes and describes their results.
type Writer struct {
	Seen *view.Seen // nil = nothing is remembered
}

// Apply carries out a change, which names its tool, for the principal of the call. It
// remembers written contents as seen, and forgets moved and deleted ones. Its errors are for
// the model; those of several operations are joined into one.
func (w Writer) Apply(ctx context.Context, c workspace.Change) (workspace.Receipt, error) {
	session := tools.Session(ctx)
	c.Principal, c.Client, c.Call, c.Group = session.Principal, session.Client.Name, session.Call, session.Group
	c.Ops = slices.Clone(c.Ops)
	wrote := make([][]byte, len(c.Ops))
	for i, op := range c.Ops {
		if op.New == nil {
			continue
		}
		c.Ops[i].New = func(old workspace.Old) (data []byte, err error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			data, err = op.New(old)
			if wrote[i] = data; data == nil {
				wrote[i] = []byte{}
			}
			return data, err
		}
	}
	receipt, err := session.Workspace.Apply(ctx, c)
	if err != nil {
		return receipt, w.Explain(ctx, err)
	}
	if c.DryRun {
		return receipt, nil
	}
	w.Forget(ctx, Touched(c.Ops, receipt))
	for i, op := range c.Ops {
		done := receipt.Done[i]
		written := op.Kind == workspace.OpWrite || op.Kind == workspace.OpAppend
		if !written || done.After == nil || done.After.Hash == "" {
			continue
		}
		for _, name := range slices.Compact([]string{op.Path.String(), done.Path}) {
			w.Seen.Note(session.Principal, name, done.After.Hash, wrote[i])
		}
	}
	return receipt, nil
}

// Forget forgets the contents seen at paths that the call has changed.
func (w Writer) Forget(ctx context.Context, paths []string) {
	w.Seen.Forget(tools.Session(ctx).Principal, paths...)
	for _, path := range paths {
		tools.Changed(ctx, path)
	}
}

// Touched names the paths that operations have changed.
func Touched(ops []workspace.Op, r workspace.Receipt) []string {
	var names []string
	for i, op := range ops {
		names = append(names, op.Path.String(), r.Done[i].Path)
		if op.Kind == workspace.OpMove {
			names = append(names, op.From.String())
		}
	}
	return names
}

// Shown returns the text of a file as a diff takes it: without byte order mark, lines ended by
// line feeds. ok reports whether the data is text.
func Shown(data []byte, form textfile.Form) (text string, ok bool) {
	if form.Binary {
		return "", false
	}
	text = string(form.Encoding.Decode(data[form.BOM:]))
	return strings.ReplaceAll(text, "\r\n", "\n"), true
}

// Aftermath returns the end of the status line of a changed file: its hash, and how to undo
// the change or why that is not possible.
func Aftermath(r workspace.Receipt, after *workspace.Version, dryRun bool) string {
	text := ""
	switch {
	case after == nil || after.Hash == "":
	case dryRun:
		text = "; hash would be " + view.ShortHash(after.Hash)
	default:
		text = "; hash " + view.ShortHash(after.Hash)
	}
	switch {
	case dryRun:
	case r.NotKept != "":
		text += "; cannot be undone: " + r.NotKept
	case r.ID != "":
		text += "; undo: restore_file undo=true"
	}
	return text
}

// Report is the result of a call that changed the text of files.
type Report struct {
	Status string
	Files  []string // of several files, a line for each
	Notes  []string
	Diff   string // "" where none is shown
}

// Text returns the status, the files and the notes, each on its own line, then the diff.
func (r Report) Text() string {
	text := strings.Join(append([]string{r.Status}, r.Files...), "\n") + NoteLines(r.Notes...)
	if r.Diff != "" {
		text += "\n" + strings.TrimRight(r.Diff, "\n")
	}
	return text
}

// MostLines is the most lines of a list in a result.
const MostLines = 20

// NoteLines returns the notes of a result, each on its own line after the status. Of many
// notes it returns the first.
func NoteLines(notes ...string) string {
	var b strings.Builder
	for _, n := range notes[:min(len(notes), MostLines)] {
		b.WriteString("\nnote: " + n)
	}
	if more := len(notes) - MostLines; more > 0 {
		fmt.Fprintf(&b, "\n… %d more notes", more)
	}
	return b.String()
}

// notesOf collects the notes of a result. path is the path that the caller gave, as printed.
func notesOf(path string, done workspace.Done, own []string) []string {
	notes := slices.Concat(own, done.Notes)
	if done.Path != path {
		notes = append(notes, "symlinks lead to "+textfile.Path(done.Path)+", which is the file written")
	}
	return notes
}

// ErrUnchanged ends a change that would leave every byte as it is.
var ErrUnchanged = errors.New("nothing to change")

// LookFile refuses a path at which no file can be written; exists reports whether the file
// exists already. text is the path as the caller wrote it.
func LookFile(path workspace.Path, text string) (info workspace.Info, exists bool, err error) {
	info, exists, err = path.Find(true)
	e, _ := errors.AsType[*workspace.Error](err)
	missing := err == nil && !exists || e != nil && e.Rule == workspace.RuleNotFound // also below a file
	switch {
	case missing && strings.HasSuffix(text, "/"):
		return info, false, tools.Errorf(tools.InvalidArgument, "%s names a directory, not a file", textfile.Path(text)).
			WithHint("leave the slash out, or use make_directory")
	case missing:
		return info, false, nil
	case err != nil:
		return info, false, err
	case info.Kind == workspace.KindDirectory:
		return info, false, tools.Errorf(tools.InvalidArgument, "%s is a directory, not a file", textfile.Path(path.String())).
			WithHint("name a file in it")
	}
	return info, true, nil
}

var hashRule = expression(`^(?:[0-9a-f]{12,64}|v:[0-9]+-[0-9a-f]+-[0-9a-f]+)$`)

// Expectation converts an expected_hash, "" if none was given, to a condition.
func Expectation(hash string) (workspace.Expect, error) {
	if hash = strings.TrimPrefix(hash, "sha256:"); !strings.HasPrefix(hash, "v:") {
		hash = strings.ToLower(hash)
	}
	if hash != "" && !hashRule().MatchString(hash) {
		return workspace.Expect{}, tools.Errorf(tools.InvalidArgument, "expected_hash %q is no hash", textfile.Cut(hash, 0, 0, 80)).
			WithHint("give the 12 digits, or the v:… token, that the status of read_file or of a change has")
	}
	return workspace.Expect{Hash: hash}, nil
}

// PlusMinus returns how many lines were added and removed: "+3 -1".
func PlusMinus(before, after string) string {
	added, removed := diff.Stat(before, after)
	return fmt.Sprintf("+%d -%d", added, removed)
}

// numberList lists numbers, the first of many: "10, 42 and 7 more".
func numberList(numbers []int) string {
	const most = 20
	var parts []string
	for _, n := range numbers[:min(len(numbers), most)] {
		parts = append(parts, fmt.Sprint(n))
	}
	text := strings.Join(parts, ", ")
	if more := len(numbers) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ID returns the ID of the change of a receipt, as file_history and restore_file take it.
func ID(r workspace.Receipt) string {
	if r.ID == "" {
		return ""
	}
	return "; change " + r.ID
}

// FirstNames names the first of several paths: "a.txt, b.txt and 7 more".
func FirstNames(names []string) string {
	const most = 10
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// KindName returns a kind with its article.
func KindName(k workspace.Kind) string {
	if k == workspace.KindOther {
		return "a special file"
	}
	return "a " + string(k)
}
