package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"toolcrib/tools"
)

// footprint is what a call touches, as far as its arguments show.
type footprint struct {
	reads, writes []string // paths of the workspace, with links followed
	edits         bool     // it changes files through the workspace
	program       bool     // it may touch files that it does not name
	effects       bool
	keys          []string // of what lives between calls, such as a session
}

// footprintOf returns the footprint of a call.
func footprintOf(ctx context.Context, tool tools.Tool, bound tools.Bound) (f footprint, err error) {
	plan, err := tool.Plan(ctx, bound)
	if err != nil {
		return f, err
	}
	effects := tool.Effects
	if plan.Effects != 0 {
		effects = plan.Effects
	}
	const files = tools.Workspace | tools.Outside
	f.effects = effects != tools.None && effects != tools.Network
	f.program = tool.Access == tools.Exec && effects&files != 0
	f.edits = !f.program && effects&files != 0
	var touched []string
	for _, arg := range bound.Paths {
		touched = append(touched, lands(ctx, arg.Value))
	}
	if len(touched) == 0 && (f.edits || !f.program && takesPaths(tool)) {
		touched = []string{everything}
	}
	if f.edits {
		f.writes = touched
	} else {
		f.reads = touched
	}
	for _, t := range plan.Touches {
		f.touch(ctx, t)
	}
	for _, c := range plan.Commands {
		for _, t := range c.Touches {
			f.touch(ctx, t)
		}
	}
	f.keys = keysOf(tool, bound)
	return f, nil
}

// everything is a path that overlaps with all others.
const everything = ""

func (f *footprint) touch(ctx context.Context, t tools.Touch) {
	if at := lands(ctx, t.Path); t.Write {
		f.writes = append(f.writes, at)
	} else {
		f.reads = append(f.reads, at)
	}
}

// lands returns the host's spelling of where a path leads, in one case, since two spellings may
// be one file. A path that cannot be resolved is refused by its tool.
func lands(ctx context.Context, text string) string {
	at, err := tools.Session(ctx).Workspace.Resolve(text)
	if err != nil {
		return strings.ToLower(path.Clean(text))
	}
	if text = at.Landing().String(); text == "." {
		return everything
	}
	return strings.ToLower(text)
}

// takesPaths reports whether a tool has arguments that are paths.
func takesPaths(tool tools.Tool) bool {
	in, err := tool.Input()
	return err == nil && len(in.PathFields()) > 0
}

// keysOf returns the keys of what the call uses that lives between calls: by the arguments
// session, job and handle. The last two have a default that is the same for every call.
func keysOf(tool tools.Tool, bound tools.Bound) (keys []string) {
	in, err := tool.Input()
	if err != nil {
		return nil
	}
	var given map[string]json.RawMessage // decoded only if it may have one of them
	for _, name := range [...]string{"session", "job", "handle"} {
		_, has := in.Keyword(name, "type")
		if given == nil && bytes.Contains(bound.Canonical, []byte(name)) && json.Unmarshal(bound.Canonical, &given) != nil {
			return nil
		}
		value, there := given[name]
		if there || has && name != "session" {
			keys = append(keys, name+" "+string(value))
		}
	}
	return keys
}

// conflicts reports whether two calls must not overtake each other.
func (f *footprint) conflicts(g *footprint) bool {
	switch {
	case !f.effects && !g.effects:
		return false
	case slices.ContainsFunc(f.keys, func(key string) bool { return slices.Contains(g.keys, key) }):
		return true
	case f.edits && g.program, g.edits && f.program:
		return true
	}
	return overlap(f.writes, g.writes) || overlap(f.writes, g.reads) || overlap(f.reads, g.writes)
}

// overlap reports whether a path of one list is one of the other or lies above or below one.
func overlap(some, others []string) bool {
	return slices.ContainsFunc(some, func(a string) bool {
		return slices.ContainsFunc(others, func(b string) bool { return within(a, b) || within(b, a) })
	})
}

func within(outer, inner string) bool {
	return outer == everything || outer == inner || strings.HasPrefix(inner, strings.TrimSuffix(outer, "/")+"/")
}

// arrange notes for each call which ones before it it must not overtake, and which one it is the
// same as: one that only reads, with no call between that writes what it reads.
func arrange(calls []*call) {
	for i, c := range calls {
		if c.state == ended {
			continue
		}
		for _, before := range slices.Backward(calls[:i]) {
			switch {
			case before.state == ended:
			case c.footprint.conflicts(&before.footprint):
				c.waits = append(c.waits, before)
			case c.same == nil && len(c.waits) == 0 && before.same == nil && c.canonical != "" && before.tool == c.tool && before.canonical == c.canonical:
				c.same = before
			}
		}
	}
}
