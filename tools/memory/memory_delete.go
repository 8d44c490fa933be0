package memory

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/memory/internal/notes"
)

//go:embed memory_delete.md
var memoryDeleteDoc string

// DeleteIn names memories.
type DeleteIn struct {
	IDs   []string `json:"ids,omitempty" jsonschema_description:"IDs of memories." jsonschema:"maxItems=50" alias:"id,memory_ids,memory_id"`
	Topic string   `json:"topic,omitempty" jsonschema_description:"Topic of a memory, whole." jsonschema:"maxLength=200" alias:"title,name,key,subject"`
	Scope string   `json:"scope,omitempty" jsonschema_description:"Default both." jsonschema:"enum=workspace,enum=user"`
}

// DeleteOut is what was deleted.
type DeleteOut struct{ deleted []found }

// Text implements [tools.Texter].
func (o DeleteOut) Text() string {
	lines := []string{textfile.Count(len(o.deleted), "memory") + " deleted; toolcrib memory restore ID brings one back within 30 days"}
	for _, f := range o.deleted {
		lines = append(lines, fmt.Sprintf("[%s] %s", f.ID, tools.Visible(f.Topic)))
	}
	return strings.Join(lines, "\n")
}

func memoryDeleteTool(l *library) tools.Tool {
	return tools.New(tools.Def[DeleteIn, DeleteOut]{
		Name: "memory_delete", Title: "Forget memories", Doc: memoryDeleteDoc, Tags: []string{"memory", "state"},
		Access: tools.Write, Effects: tools.State,
		Examples: []tools.Example[DeleteIn]{{
			Say:    "Forget what is wrong",
			Before: l.prepared("Release day", "Releases are made on Sundays."),
			In:     DeleteIn{Topic: "Release day"},
			Want:   "1 memory deleted; toolcrib memory restore ID brings one back within 30 days\n[…] Release day",
		}},
		Run: l.delete,
	})
}

func (l *library) delete(ctx context.Context, in DeleteIn) (DeleteOut, error) {
	if len(in.IDs) == 0 && in.Topic == "" {
		return DeleteOut{}, tools.Errorf(tools.InvalidArgument, "no memory is named").WithHint("give ids or topic")
	}
	list, err := l.pick(ctx, in.IDs, in.Topic, in.Scope)
	if err != nil {
		return DeleteOut{}, err
	}
	for _, scope := range []string{inWorkspace, ofUser} {
		here := idsIn(list, scope)
		if len(here) == 0 {
			continue
		}
		s, err := l.shelf(ctx, scope)
		if err != nil {
			return DeleteOut{}, err
		}
		if err := s.Change(ctx, func(set *notes.Set) (notes.Batch, error) {
			var b notes.Batch
			for _, id := range here { // another may have been quicker
				if set.Find(id) != nil && !slices.Contains(b.Remove, id) {
					b.Remove = append(b.Remove, id)
				}
			}
			return b, nil
		}); err != nil {
			return DeleteOut{}, err
		}
	}
	return DeleteOut{list}, nil
}

// idsIn returns the IDs of the notes of a scope.
func idsIn(list []found, scope string) (ids []string) {
	for _, f := range list {
		if f.scope == scope {
			ids = append(ids, f.ID)
		}
	}
	return ids
}
