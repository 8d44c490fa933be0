package memory

import (
	"context"
	"slices"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/handles"
	"toolcrib/tools/memory/internal/notes"
)

// change is what a write has done.
type change struct {
	note    *notes.Note
	old     *notes.Note // the version before; nil = there was none
	same    bool        // nothing was to be written
	scope   string
	similar []similar
}

// remember writes the note that make returns, with the version before it, and finds notes
// like it. Notes that expired long ago go.
func (l *library) remember(ctx context.Context, scope string, make func(*notes.Set) (note, old *notes.Note, err error)) (change, error) {
	s, err := l.shelf(ctx, scope)
	if err != nil {
		return change{}, err
	}
	out := change{scope: scope}
	var others []*notes.Note
	err = s.Change(ctx, func(set *notes.Set) (notes.Batch, error) {
		n, old, err := make(set)
		if err != nil {
			return notes.Batch{}, err
		}
		out.note, out.old, others = n, old, nil
		if out.same = old != nil && alike(n, old); out.same {
			out.note = old
		}
		var b notes.Batch
		if !out.same {
			b.Write = append(b.Write, n)
		}
		replaced := map[string]bool{n.ID: true}
		for _, other := range append(slices.Clone(set.Notes), n) {
			for _, id := range other.Supersedes {
				replaced[id] = true
			}
		}
		now := time.Now()
		for _, other := range set.Notes {
			switch {
			case !replaced[other.ID] && live(other, now):
				others = append(others, other)
			case other.ID != n.ID && !live(other, now.Add(-notes.Retention)):
				b.Remove = append(b.Remove, other.ID)
			}
		}
		return b, nil
	})
	if err != nil {
		return change{}, err
	}
	out.similar = s.ranked.similarTo(out.note, others)
	return out, nil
}

// alike reports whether a version would say just what the one before it says.
func alike(n, old *notes.Note) bool {
	return n.Content == old.Content && n.Topic == old.Topic && slices.Equal(n.Tags, old.Tags) && slices.Equal(n.Supersedes, old.Supersedes) && n.Expires.Equal(old.Expires)
}

// newID returns an ID that no note of a set has. Owners are checked, so it need be no secret.
func newID(set *notes.Set) string {
	for {
		if id := handles.New(tools.Local); set.Find(id) == nil {
			return id
		}
	}
}

// author names who writes.
func author(ctx context.Context) string {
	s := tools.Session(ctx)
	if s.Client.Name != "" {
		return s.Client.Name
	}
	return s.Principal
}

// prepared returns what writes a memory before an example.
func (l *library) prepared(topic, content string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := l.remember(ctx, inWorkspace, func(*notes.Set) (*notes.Note, *notes.Note, error) {
			return &notes.Note{ID: handles.New(tools.Local), Topic: topic, Content: content, Version: 1, Created: time.Now().UTC(), Updated: time.Now().UTC(), Author: "an example"}, nil, nil
		})
		return err
	}
}
