package restore

import (
	"slices"

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

// settleLost refuses a restoration that cannot restore everything. The undo of a command, whose
// result offered it, does the rest.
func (r *Restoration) settleLost() error {
	if len(r.lost) == 0 {
		return nil
	}
	var names []string
	code := tools.TooLarge
	for _, l := range r.lost {
		names = append(names, l.path+" "+l.why)
		if !l.large {
			code = tools.NotFound
		}
	}
	text := change.FirstNames(names)
	switch {
	case len(r.steps) > 0 && r.undo && r.Rec.Program:
		r.lost, r.notes = nil, append(r.notes, "not undone: "+text)
		return nil
	case len(r.steps) > 0 && r.undo:
		return tools.Errorf(code, "nothing is undone of the change %s: %s", r.Rec.ID, text).WithHint("undo=true version=%s paths=[...] undoes the others", r.Rec.ID)
	case r.undo:
		return tools.Errorf(code, "the change %s cannot be undone: %s", r.Rec.ID, text)
	}
	e := tools.Errorf(code, "nothing is restored: %s", text)
	if len(r.steps) > 0 {
		return e.WithHint("path and version=%s restore the others one by one", r.Rec.ID)
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
			r.lost = append(r.lost, loss{path: s.name, why: why})
			left = slices.DeleteFunc(left, func(other step) bool { return other.op.Path == s.op.Path }) // what it was to replace stays
		}
	}
	r.steps = left
	return r.settleLost()
}

// notKept returns why a former state was not kept, "" if it was.
func notKept(v *workspace.Version) string {
	switch {
	case v.Kind == workspace.KindOther:
		return "was a FIFO, socket or device"
	case v.Kind != workspace.KindFile || v.Kept:
		return ""
	case v.Size > workspace.MaxKept:
		return "was larger than " + textfile.Size(workspace.MaxKept) + ", which is not kept"
	}
	return "was not kept, since the change took away too much at once"
}

// missing returns why the history does not have a content that was kept, "" if it has it.
func (r *Restoration) missing(v *workspace.Version) (why string, err error) {
	kept, _, err := r.ws.Kept(r.ctx, v)
	if e := tools.AsError(err); e != nil {
		if e.Code == tools.NotFound {
			return "was kept, but is forgotten by now", nil
		}
		return "", err
	}
	return "", kept.Close()
}
