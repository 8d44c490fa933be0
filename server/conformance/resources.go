package conformance

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"toolcrib/tools"
)

type resourceIn struct {
	URI string `json:"uri" jsonschema_description:"the resource"`
}

type recordIn struct {
	URI string `json:"uri" jsonschema_description:"the resource"`
	ID  string `json:"id" jsonschema_description:"the id in its URI"`
}

// static are the resources that always say the same.
func static() map[string]tools.Block {
	contents := []tools.Block{
		{URI: "test://static-text", MIME: "text/plain", Text: "This is the content of the static text resource."},
		{URI: "test://static-binary", MIME: "image/png", Data: file("pixel.png")},
		{URI: "test://watched-resource", MIME: "text/plain", Text: "This is the content of the watched resource."},
	}
	byURI := make(map[string]tools.Block, len(contents))
	for _, b := range contents {
		b.Kind = tools.ResourceBlock
		byURI[b.URI] = b
	}
	return byURI
}

// sources are the resources: three that are listed, and a template.
func sources() []tools.Source {
	all := static()
	return []tools.Source{
		{
			Name: "fixtures", Title: "Fixtures", Description: "Resources that always say the same.",
			Read: tools.New(tools.Def[resourceIn, blocks]{
				Name: "read_fixture", Title: "Read a fixture", Doc: "Reads a resource that always says the same.",
				Access: tools.Read, Effects: tools.None, Repeatable: true,
				Run: func(_ context.Context, in resourceIn) (blocks, error) { return blocks{all[in.URI]}, nil },
			}),
			Args: func(uri string) (json.RawMessage, bool) {
				_, ok := all[uri]
				return arguments(resourceIn{uri}), ok
			},
			List: func(context.Context) ([]tools.Resource, error) {
				return []tools.Resource{
					{URI: "test://static-text", Name: "static-text", Title: "Static text", Description: "A text that never changes.", MIME: "text/plain", Size: -1},
					{URI: "test://static-binary", Name: "static-binary", Title: "Static binary", Description: "An image that never changes.", MIME: "image/png", Size: -1},
					{URI: "test://watched-resource", Name: "watched-resource", Title: "Watched resource", Description: "A text that clients follow.", MIME: "text/plain", Size: -1},
				}, nil
			},
			Version: func(context.Context, string) (string, error) { return "1", nil },
		},
		{
			Name: "record", Title: "Record", Description: "A record by its id.", Template: "test://template/{id}/data", MIME: "application/json",
			Read: tools.New(tools.Def[recordIn, blocks]{
				Name: "read_record", Title: "Read a record", Doc: "Reads a record by its id.",
				Access: tools.Read, Effects: tools.None, Repeatable: true,
				Run: readRecord,
			}),
			Args: func(uri string) (json.RawMessage, bool) {
				id, ok := recordID(uri)
				return arguments(recordIn{uri, id}), ok
			},
			Complete: func(_ context.Context, _, prefix string) ([]string, error) {
				return beginning([]string{"123", "124"}, prefix), nil
			},
		},
	}
}

func readRecord(_ context.Context, in recordIn) (blocks, error) {
	record, err := json.Marshal(map[string]any{"id": in.ID, "templateTest": true, "data": "Data for ID: " + in.ID})
	return blocks{{Kind: tools.ResourceBlock, URI: in.URI, MIME: "application/json", Text: string(record)}}, err
}

// recordID returns the id in the URI of a record.
func recordID(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, "test://template/")
	if !ok {
		return "", false
	}
	escaped, ok := strings.CutSuffix(rest, "/data")
	if !ok || escaped == "" || strings.Contains(escaped, "/") {
		return "", false
	}
	id, err := url.PathUnescape(escaped)
	return id, err == nil
}

// arguments encodes the arguments of a tool that reads a resource.
func arguments(in any) json.RawMessage {
	raw, err := json.Marshal(in)
	if err != nil {
		panic(err) // they are texts
	}
	return raw
}

// beginning returns the values that begin with prefix.
func beginning(values []string, prefix string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, prefix) })
}
