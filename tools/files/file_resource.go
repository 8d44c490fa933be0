package files

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed file_resource.md
var fileResourceDoc string

// resourceSize is the largest file that is a resource.
const resourceSize = 1 << 20

// FileResourceIn says which file to read.
type FileResourceIn struct {
	Path string `json:"path" jsonschema_description:"File to read." path:"file"`
}

// FileResourceOut is the content of a file.
type FileResourceOut struct {
	uri, mime string
	text      string
	data      []byte // nil: the content is text
}

// Content is the file as one block.
func (o FileResourceOut) Content() []tools.Block {
	return []tools.Block{{Kind: tools.ResourceBlock, URI: o.uri, MIME: o.mime, Text: o.text, Data: o.data}}
}

func fileResourceTool() tools.Tool {
	return tools.New(tools.Def[FileResourceIn, FileResourceOut]{
		Name: "file_resource", Title: "Read a file as a resource", Doc: fileResourceDoc, SameAs: "read_file",
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Limits: tools.Limits{Text: tools.MaxResource, Facts: map[string]any{"most": textfile.Size(resourceSize)}},
		Examples: []tools.Example[FileResourceIn]{{
			Say:   "Attach a file to a conversation",
			Files: map[string]string{"notes.md": "# Notes\n"},
			In:    FileResourceIn{Path: "notes.md"},
		}},
		Run: fileResource,
	})
}

func fileResource(ctx context.Context, in FileResourceIn) (FileResourceOut, error) {
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return FileResourceOut{}, err
	}
	src, err := view.Open(ctx, path, "")
	if e, ok := errors.AsType[*workspace.Error](err); ok && e.Rule == workspace.RuleKind {
		return FileResourceOut{}, tools.AsError(err).WithHint("list_directory lists it")
	}
	if err != nil {
		return FileResourceOut{}, err
	}
	if err := src.Close(); err != nil {
		return FileResourceOut{}, err
	}
	if src.Size > resourceSize {
		return FileResourceOut{}, tools.Errorf(tools.TooLarge, "%s has %s, a resource at most %s",
			src.Path, textfile.Size(src.Size), textfile.Size(resourceSize)).WithHint("call read_file for parts of it")
	}
	out := FileResourceOut{uri: fileURI(path), mime: src.Mime}
	if src.Form.Binary {
		out.data = src.Data
		return out, nil
	}
	out.mime, _, _ = strings.Cut(src.Mime, ";") // the text is decoded: its charset is gone
	out.text = string(src.Form.Encoding.Decode(src.Data[src.Form.BOM:]))
	return out, nil
}
