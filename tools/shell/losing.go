package shell

import (
	"context"
	"path"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/losses"
	"toolcrib/tools/shell/internal/command"
	"toolcrib/workspace"
)

// losing asks before a command deletes or replaces what the history cannot keep, as far as its
// line shows. Of directories that git ignores nothing is kept anyway, and where no program is
// recorded, the result says that.
func (d Deps) losing(ctx context.Context, in commandIn) (tools.Question, error) {
	return d.question(ctx, command.Parse(in.Command, d.location(ctx, in)).Losses)
}

// question asks about losses, if programs are recorded.
func (d Deps) question(ctx context.Context, list []command.Loss) (tools.Question, error) {
	if len(list) == 0 || d.Sandbox == nil || !d.Sandbox.Recorded(ctx) {
		return tools.Question{}, nil
	}
	tally := losses.Tally{Unignored: true}
	counted := map[string]bool{}
	for _, l := range list {
		for _, p := range matching(ctx, l) {
			if l.Into {
				p = into(p, l.Source)
			}
			if counted[p.String()+l.Named] {
				continue
			}
			counted[p.String()+l.Named] = true
			var err error
			switch {
			case l.Named != "":
				err = tally.DeleteNamed(ctx, p, l.Named)
			case l.Kind == command.Cleans:
				err = tally.Clean(ctx, p, l.Tree, l.Ignored)
			case l.Kind == command.Deletes:
				err = tally.Delete(ctx, p, l.Tree)
			case l.Kind == command.Overwrites:
				tally.Overwrite(ctx, p)
			default:
				err = tally.Replace(ctx, l.Verb, l.Source, p, l.Follow, false)
			}
			if err != nil && ctx.Err() != nil { // else the command meets the error itself
				return tools.Question{}, err
			}
		}
	}
	return tally.Question(ctx), nil
}

// into returns where source comes if it is put to p: into it, if p is a directory.
func into(p workspace.Path, source string) workspace.Path {
	if info, exists, err := p.Find(true); err != nil || !exists || info.Kind != workspace.KindDirectory {
		return p
	}
	if in, err := p.Join(path.Base(source)); err == nil {
		return in
	}
	return p
}

// matching returns the paths of a loss in the roots. A pattern does not match hidden names
// unless it begins with a dot.
func matching(ctx context.Context, l command.Loss) []workspace.Path {
	if !l.Glob {
		p, err := tools.Resolve(ctx, l.Path)
		if err != nil {
			return nil // outside of the roots or denied, so that the command cannot reach it
		}
		return []workspace.Path{p}
	}
	dir, err := tools.Resolve(ctx, path.Dir(l.Path))
	if err != nil {
		return nil
	}
	entries, err := dir.ReadDir()
	if err != nil {
		return nil
	}
	var found []workspace.Path
	pattern := path.Base(l.Path)
	for _, e := range entries {
		if ok, err := path.Match(pattern, e.Name); err != nil || !ok || strings.HasPrefix(e.Name, ".") && !strings.HasPrefix(pattern, ".") {
			continue
		}
		if p, err := dir.Join(e.Name); err == nil {
			found = append(found, p)
		}
	}
	return found
}
