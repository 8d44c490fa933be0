package change

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/patch"
	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// Patching is the part of a patch for one file, under way. Its view of the file is the one
// that the last attempt of the change found.
type Patching struct {
	Editing            // for its errors if hunks do not match
	kind    patch.Kind // of all steps
	steps   []patch.File
	name    string // as printed, with the new name of a move or copy
	source  workspace.Path
	Op      workspace.Op

	results []textedit.Result // of each step
	after   []byte            // the new content, nil of a deleted or moved file
	whole   bool              // both contents are known
}

// Patchings makes an operation for each file of a patch. The error joins the errors of files
// that are missing or whose names make no sense; the other files are returned nevertheless, so
// that their errors can be reported too.
func (w Writer) Patchings(ctx context.Context, parsed []patch.File, named *textfile.Encoding) (all []*Patching, refused error) {
	var errs []error
	taken := map[string]*Patching{} // by each path that is changed
	for _, f := range parsed {
		p, err := w.patching(ctx, f, named)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		paths := []string{p.Op.Path.String()}
		if f.To != "" && f.Kind != patch.Copy { // a copy is of the content before the patch
			paths = append(paths, p.source.String())
		}
		if before := taken[paths[0]]; before != nil && before.follows(p) {
			before.steps = append(before.steps, f)
			continue
		}
		clash := false
		for _, path := range paths {
			if before := taken[path]; before != nil {
				clash = true
				errs = append(errs, tools.Errorf(tools.InvalidArgument, "%s is named twice, at patch lines %d and %d", textfile.Path(path), before.steps[0].Line, f.Line).
					WithHint("a file can be updated several times in one patch; anything else wants two calls"))
			}
			taken[path] = p
		}
		if !clash {
			all = append(all, p)
		}
	}
	return all, errors.Join(errs...)
}

// follows reports whether next is one more update of the file that p updates.
func (p *Patching) follows(next *Patching) bool {
	return p.kind == patch.Update && next.kind == patch.Update && p.Op.Kind == workspace.OpWrite && next.Op.Kind == workspace.OpWrite &&
		p.steps[0].To == "" && next.steps[0].To == "" && p.Op.Mode == next.Op.Mode
}

// patching finds the file of a section and prepares its operation.
func (w Writer) patching(ctx context.Context, f patch.File, named *textfile.Encoding) (*Patching, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := tools.Resolve(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	p := &Patching{kind: f.Kind, steps: []patch.File{f}, source: path, name: textfile.Path(path.String())}
	p.Path, p.named = p.name, named
	p.seen, p.saw, _ = w.Seen.Last(tools.Session(ctx).Principal, path.String())
	p.Op = workspace.Op{Kind: workspace.OpWrite, Path: path, New: p.compute}
	if f.To != "" {
		if p.Op.Path, err = tools.Resolve(ctx, f.To); err != nil {
			return nil, err
		}
		p.name += " -> " + textfile.Path(p.Op.Path.String())
	}
	switch f.Kind {
	case patch.Add:
		p.Op.Expect.Absent = true
		p.Op.Mode = executable(f.Mode, 0)
		if strings.HasSuffix(f.Path, "/") {
			return nil, tools.Errorf(tools.InvalidArgument, "%s names a directory, not a file", textfile.Path(f.Path)).WithHint("leave the slash out")
		}
		return p, nil
	case patch.Delete:
		return p, p.deletion(ctx)
	}
	info, err := p.file()
	if err != nil {
		return nil, err
	}
	p.Op.Mode = executable(f.Mode, info.Mode.Perm())
	switch {
	case f.Kind == patch.Copy:
		p.Op.Expect.Absent = true
		p.Op.New = p.computeCopy
		if p.Op.Mode == 0 {
			p.Op.Mode = info.Mode.Perm()
		}
	case f.To != "" && len(f.Chunks) == 0 && p.Op.Mode == 0:
		p.Op.Kind, p.Op.From, p.Op.New = workspace.OpMove, path, nil
	case f.To != "":
		p.Op.From = path
	}
	return p, nil
}

// executable sets or clears the executable bits of perm as a patch says; 0 = they stay as they
// are.
func executable(told, perm fs.FileMode) fs.FileMode {
	mode := perm
	switch {
	case told == 0, perm == 0 && told&0o111 == 0:
		return 0
	case perm == 0:
		return 0o755
	case told&0o111 != 0:
		mode |= perm & 0o444 >> 2
	default:
		mode &^= 0o111
	}
	if mode == perm {
		return 0
	}
	return mode
}

// file describes the path to change, which must be a regular file.
func (p *Patching) file() (workspace.Info, error) {
	info, exists, err := LookFile(p.source, p.steps[0].Path)
	if err == nil && !exists {
		err = Missing(p.source, nil)
		if e := tools.AsError(err); e.Code == tools.NotFound {
			err = e.WithHint("%s", strings.Replace(e.Hint, "write_file makes files", "*** Add File: makes files", 1))
		}
	}
	return info, err
}

// deletion prepares to delete the file, if it has the content that the patch deletes.
func (p *Patching) deletion(ctx context.Context) error {
	p.Op.Kind, p.Op.New = workspace.OpDelete, nil
	info, err := p.source.Lstat()
	chunks := p.steps[0].Chunks
	switch {
	case err != nil:
		return err
	case info.Kind == workspace.KindDirectory:
		return tools.Errorf(tools.InvalidArgument, "%s is a directory; a patch deletes files", p.Path).WithHint("delete_path deletes directories")
	case info.Kind != workspace.KindFile && len(chunks) > 0:
		return tools.Errorf(tools.InvalidArgument, "%s is a %s, not the file that the patch has", p.Path, info.Kind).WithHint("delete_path deletes it")
	case info.Kind != workspace.KindFile:
		return nil
	case info.Size > view.WholeSize && len(chunks) == 0:
		p.Op.Expect.Hash = info.Version()
		return nil
	}
	data, err := view.ReadAll(p.source, workspace.MaxEdit)
	if err != nil {
		return err
	}
	p.Old = workspace.Old{Exists: true, Info: info, Data: data, Hash: contentHash(data)}
	p.Op.Expect.Hash = p.Old.Hash
	if p.form, err = formOf(p.Path, p.Old, p.named); err != nil {
		return err
	}
	p.whole = true
	if len(chunks) == 0 {
		return nil
	}
	rest, err := p.patch(data, p.steps[0])
	if err == nil && len(rest.Data) > p.form.BOM {
		err = tools.Errorf(tools.Conflict, "%s has more lines than the patch deletes", p.Path).
			WithHint("read it; *** Delete File: PATH deletes it with any content")
	}
	return err
}
