package files

import (
	"context"
	"fmt"
	"path"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/internal/losses"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// relocation is a call of move_path or copy_path.
type relocation struct {
	tool                string
	kind                workspace.OpKind
	verb, done          string
	source, destination string
	overwrite           bool
	expected            string
}

// relocate moves or copies. It checks both paths first only to give better errors: the system
// itself refuses to replace something.
func (d Deps) relocate(ctx context.Context, r relocation) (status string, notes []string, err error) {
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	to, err := tools.Resolve(ctx, r.destination)
	if err != nil {
		return "", nil, err
	}
	from, info, err := entry(ctx, r.source)
	if err != nil {
		return "", nil, err
	}
	if err := r.check(info, from, to); err != nil {
		return "", nil, err
	}
	expect, err := change.Expectation(r.expected)
	if err != nil {
		return "", nil, err
	}
	receipt, err := d.writer().Apply(ctx, workspace.Change{
		Tool: r.tool,
		Ops: []workspace.Op{{
			Kind: r.kind, From: from, Path: to, Overwrite: r.overwrite, Expect: expect,
		}},
	})
	if e := tools.AsError(err); e != nil && e.Code == tools.AlreadyExists && !r.overwrite {
		return "", nil, e.WithHint("%s", r.taken(from, to))
	}
	if err != nil {
		return "", nil, err
	}
	done := receipt.Done[0]
	status = fmt.Sprintf("%s -> %s: %s%s", textfile.Path(from.String()), textfile.Path(done.Path), r.done, amount(done, done.After))
	if done.Before != nil {
		status += ", replacing " + change.KindName(done.Before.Kind)
	}
	return status + change.ID(receipt) + change.Aftermath(receipt, nil, false), done.Notes, nil
}

// entry resolves a path to its own entry: it does not follow a symlink.
func entry(ctx context.Context, text string) (workspace.Path, workspace.Info, error) {
	path, err := tools.Resolve(ctx, text)
	if err != nil {
		return path, workspace.Info{}, err
	}
	if info, err := path.Lstat(); err != nil || info.Kind != workspace.KindDirectory {
		return path, info, err
	}
	if path, err = tools.Resolve(ctx, path.String()); err != nil { // without a slash at its end
		return path, workspace.Info{}, err
	}
	info, err := path.Lstat()
	if err == nil && info.Kind == workspace.KindSymlink {
		err = tools.Errorf(tools.InvalidArgument, "%s leads to the directory by a symlink", textfile.Path(text)).
			WithHint("path %s is the link itself, %s what it leads to", textfile.Quoted(path.String()), textfile.Quoted(info.Resolved))
	}
	return path, info, err
}

// check refuses calls that seem to be mistakes.
func (r relocation) check(info workspace.Info, from, to workspace.Path) error {
	if from.String() == to.String() {
		return tools.Errorf(tools.InvalidArgument, "source and destination are both %s", textfile.Path(to.String())).
			WithHint("give another destination")
	}
	directory := info.Kind == workspace.KindDirectory
	if directory && r.expected != "" {
		return tools.Errorf(tools.InvalidArgument, "%s is a directory, and expected_hash is that of a file", textfile.Path(from.String())).
			WithHint("leave expected_hash out")
	}
	if !directory && strings.HasSuffix(r.destination, "/") {
		return tools.Errorf(tools.InvalidArgument, "destination: %s names a directory", textfile.Path(r.destination)).
			WithHint("destination=%s puts it there", r.within(from, to))
	}
	if !r.overwrite {
		return nil
	}
	there, exists, err := to.Find(false)
	if err != nil || !exists {
		return nil // the destination does not exist, or the change itself fails
	}
	switch over := there.Kind == workspace.KindDirectory; {
	case over && !directory:
		return tools.Errorf(tools.InvalidArgument, "%s is a directory, which a file does not replace", textfile.Path(to.String())).
			WithHint("destination=%s puts it there", r.within(from, to))
	case directory && !over:
		return tools.Errorf(tools.InvalidArgument, "%s is no directory, and a directory replaces only a directory", textfile.Path(to.String())).
			WithHint("give another destination, or call delete_path first")
	}
	return nil
}

// taken returns the hint for a destination that exists.
func (r relocation) taken(from, to workspace.Path) string {
	if info, err := to.Stat(); err == nil && info.Kind == workspace.KindDirectory {
		return "it is a directory; destination=" + r.within(from, to) + " puts it inside"
	}
	return "overwrite=true replaces it; the history keeps its content"
}

// within returns the destination for a caller that named the directory to put the source into.
func (r relocation) within(from, to workspace.Path) string {
	return textfile.Quoted(path.Join(to.String(), path.Base(from.String())))
}

// question asks before a call replaces what cannot be restored.
func (r relocation) question(ctx context.Context) (tools.Question, error) {
	if !r.overwrite {
		return tools.Question{}, nil
	}
	to, err := tools.Resolve(ctx, r.destination)
	if err != nil {
		return tools.Question{}, err
	}
	var lost losses.Tally
	err = lost.Replace(ctx, r.verb, r.source, to, false, true)
	return lost.Question(ctx), err
}

// amount returns how much was changed: ", 214 files" for a tree, ", 12 B" for a file.
func amount(done workspace.Done, v *workspace.Version) string {
	switch {
	case v == nil:
		return ""
	case v.Kind == workspace.KindDirectory:
		return ", " + textfile.Count(done.Files, "file")
	case v.Kind == workspace.KindFile:
		return ", " + textfile.Size(v.Size)
	}
	return ", " + change.KindName(v.Kind)
}
