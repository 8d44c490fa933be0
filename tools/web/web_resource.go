package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"toolcrib/tools"
	"toolcrib/tools/internal/handles"
	"toolcrib/tools/outbound"
)

//go:embed web_resource.md
var webResourceDoc string

// fileURI is the prefix of the URIs of files that are no texts.
const fileURI = "toolcrib://web/"

// ResourceIn says which file to read.
type ResourceIn struct {
	File string `json:"file,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Handle of the file, from its URI; default the newest."`
}

// ResourceOut is a file.
type ResourceOut struct{ block tools.Block }

// Content returns the file as one block.
func (o ResourceOut) Content() []tools.Block { return []tools.Block{o.block} }

// sources are the files that web_fetch has read and that are no texts.
func (e *engine) sources() []tools.Source {
	return []tools.Source{{
		Name: "web", Title: "Files of the web",
		Description: "Files that web_fetch has read within the last minutes and that are no texts.",
		Template:    fileURI + "{handle}", Needs: "web_fetch",
		Read: tools.New(tools.Def[ResourceIn, ResourceOut]{
			Name: "web_resource", Title: "Read a file of the web as a resource", Doc: webResourceDoc,
			Access: tools.Read, Effects: tools.None, Repeatable: true,
			Limits:   tools.Limits{Text: tools.MaxResource},
			Examples: []tools.Example[ResourceIn]{{Say: "Read the file that web_fetch has linked last.", Want: "..."}},
			Run:      e.webResource,
		}),
		Args: func(uri string) (json.RawMessage, bool) {
			handle, ok := strings.CutPrefix(uri, fileURI)
			args, err := json.Marshal(ResourceIn{File: handle})
			return args, ok && handle != "" && err == nil
		},
		Complete: func(ctx context.Context, variable, prefix string) (list []string, err error) {
			for _, f := range e.files.of(principal(ctx)) {
				if variable == "handle" && strings.HasPrefix(f.handle, prefix) {
					list = append(list, f.handle)
				}
			}
			return list, nil
		},
	}}
}

func (e *engine) webResource(ctx context.Context, in ResourceIn) (ResourceOut, error) {
	if err := ctx.Err(); err != nil {
		return ResourceOut{}, err
	}
	list := e.files.of(principal(ctx))
	if len(list) == 0 && in.File == "" {
		return ResourceOut{tools.Text("no file has been read")}, nil
	}
	for _, f := range list {
		if in.File != "" && f.handle != in.File {
			continue
		}
		if p := e.client().Snapshot(ctx, f.ask); p != nil {
			return ResourceOut{tools.Block{Kind: tools.ResourceBlock, URI: fileURI + f.handle, MIME: mediaType(p), Data: p.Body}}, nil
		}
	}
	return ResourceOut{}, tools.Errorf(tools.NotFound, "%s%s is not kept", fileURI, in.File).WithHint("web_fetch of its address reads it anew")
}

// link returns a link to a file that was read, none if it is too large for a resource.
func (e *engine) link(ctx context.Context, r *reading, media string) []tools.Block {
	if len(r.page.Body) > tools.MaxResource {
		return nil
	}
	return []tools.Block{{Kind: tools.LinkBlock, URI: fileURI + e.files.add(principal(ctx), r.ask), Name: fileName(r.page.Header, r.page.URL), MIME: media}}
}

func principal(ctx context.Context) string {
	if s := tools.Session(ctx); s != nil {
		return s.Principal
	}
	return ""
}

// mostFiles is how many files have a handle at once.
const mostFiles = 64

// files are the requests whose answers are files, by handles that belong to principals.
type files struct {
	mu   sync.Mutex
	list []file // the newest first
}

type file struct {
	handle, principal string
	ask               outbound.Request
}

// add returns a handle for a request of a principal.
func (f *files) add(principal string, ask outbound.Request) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	handle := handles.New(principal)
	f.list = slices.Insert(f.list, 0, file{handle, principal, ask})
	f.list = f.list[:min(len(f.list), mostFiles)]
	return handle
}

// of returns the files of a principal.
func (f *files) of(principal string) []file {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.list), func(f file) bool { return f.principal != principal })
}
