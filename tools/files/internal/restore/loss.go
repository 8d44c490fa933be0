package restore

import (
	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// loss is a path that cannot be restored.
type loss struct {
	path, why string // "big.log", "was larger than 67 MB, which is not kept"
	large     bool
}

// refuseLost returns why a restoration cannot restore everything.
func (r *Restoration) refuseLost() error {
	var names []string
	code := tools.TooLarge
	for _, l := range r.lost {
		names = append(names, l.path+" "+l.why)
		if !l.large {
			code = tools.NotFound
		}
	}
	e := tools.Errorf(code, "nothing is restored: %s", change.FirstNames(names))
	switch {
	case len(r.steps) > 0 && r.undo:
		return e.WithHint("undo=true version=%s paths=[...] undoes the others", r.Rec.ID)
	case len(r.steps) > 0:
		return e.WithHint("path and version=%s restore the others one by one", r.Rec.ID)
	case r.undo:
		return e.WithHint("what was done cannot be undone; file_history lists the other changes")
	}
	return e.WithHint("file_history lists the other versions")
}

// Verify refuses a plan if the history does not have all contents for it.
func (r *Restoration) Verify() error {
	checked := map[string]string{} // why a content is missing, by its hash
	var left []step
	for _, s := range r.steps {
		if s.content == nil {
			left = append(left, s)
			continue
		}
		why, ok := checked[s.content.At+s.content.Hash]
		if !ok {
			var err error
			if why, err = r.missing(s.content); err != nil {
				return err
			}
			checked[s.content.At+s.content.Hash] = why
		}
		if why == "" {
			left = append(left, s)
		} else {
			r.lost = append(r.lost, loss{s.name, why, s.content.Size > workspace.MaxKept})
		}
	}
	if len(r.lost) == 0 {
		return nil
	}
	r.steps = left
	return r.refuseLost()
}

// missing returns why the history does not have a content, "" if it has it.
func (r *Restoration) missing(v *workspace.Version) (why string, err error) {
	switch {
	case v.Kept:
	case v.Size > workspace.MaxKept:
		return "was larger than " + textfile.Size(workspace.MaxKept) + ", which is not kept", nil
	default:
		return "was not kept, since the change took away too much at once", nil
	}
	kept, _, err := r.ws.Kept(r.ctx, v)
	if e := tools.AsError(err); e != nil {
		if e.Code == tools.NotFound {
			return "was kept, but is forgotten by now", nil
		}
		return "", err
	}
	return "", kept.Close()
}
