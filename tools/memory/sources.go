package memory

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/memory/internal/notes"
)

//go:embed memory_resource.md
var memoryResourceDoc string

// memoryURI is the prefix of the URIs of memories.
const memoryURI = "toolcrib://memory/"

// ResourceIn says which memory to read.
type ResourceIn struct {
	ID string `json:"id,omitempty" jsonschema:"maxLength=64" jsonschema_description:"ID of the memory; default the newest."`
}

// ResourceOut is a memory as a file.
type ResourceOut struct{ uri, text string }

// Content returns the memory as one block.
func (o ResourceOut) Content() []tools.Block {
	return []tools.Block{{Kind: tools.ResourceBlock, URI: o.uri, MIME: "text/markdown", Text: o.text}}
}

// sources returns the resources of the category.
func sources(l *library) []tools.Source {
	return []tools.Source{{
		Name: "memory", Title: "Memories", MIME: "text/markdown",
		Description: "What earlier sessions have remembered, in this workspace and for the user.",
		Template:    memoryURI + "{id}", Needs: "memory_read",
		Read: tools.New(tools.Def[ResourceIn, ResourceOut]{
			Name: "memory_resource", Title: "Read a memory as a resource", Doc: memoryResourceDoc, SameAs: "memory_read",
			Access: tools.Read, Effects: tools.None, Repeatable: true,
			Limits:   tools.Limits{Text: tools.MaxResource},
			Examples: []tools.Example[ResourceIn]{{Say: "Read a memory.", Before: l.prepared("Release day", "Releases are made on Tuesdays.")}},
			Run:      l.resource,
		}),
		Args: func(uri string) (json.RawMessage, bool) {
			id, ok := strings.CutPrefix(uri, memoryURI)
			args, err := json.Marshal(ResourceIn{id})
			return args, ok && id != "" && err == nil
		},
		List:     l.list,
		Complete: l.complete,
		Version: func(ctx context.Context, uri string) (string, error) {
			list, err := l.pick(ctx, []string{strings.TrimPrefix(uri, memoryURI)}, "", "")
			if err != nil {
				return "", err
			}
			return fmt.Sprint(list[0].Version), nil
		},
	}}
}

func (l *library) resource(ctx context.Context, in ResourceIn) (ResourceOut, error) {
	if in.ID == "" {
		newest, err := l.list(ctx)
		if err != nil || len(newest) == 0 {
			return ResourceOut{}, cmp.Or(err, error(tools.Errorf(tools.NotFound, "there are no memories")))
		}
		in.ID = newest[0].Name
	}
	list, err := l.pick(ctx, []string{in.ID}, "", "")
	if err != nil {
		return ResourceOut{}, err
	}
	text, err := notes.Format(list[0].Note)
	return ResourceOut{memoryURI + list[0].ID, string(text)}, err
}

// list returns the newest memories.
func (l *library) list(ctx context.Context) ([]tools.Resource, error) {
	const most = 200
	all, _, err := l.all(ctx, "")
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b found) int { return b.Updated.Compare(a.Updated) })
	var list []tools.Resource
	for _, f := range all[:min(len(all), most)] {
		list = append(list, tools.Resource{URI: memoryURI + f.ID, Name: f.ID, Title: f.Topic, MIME: "text/markdown", Size: -1})
	}
	return list, nil
}

func (l *library) complete(ctx context.Context, _, prefix string) (ids []string, err error) {
	list, err := l.list(ctx)
	for _, r := range list {
		if strings.HasPrefix(r.Name, prefix) {
			ids = append(ids, r.Name)
		}
	}
	return ids, err
}
