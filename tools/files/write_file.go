package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/losses"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed write_file.md
var writeFileDoc string

// WriteFileIn is a file and its content.
type WriteFileIn struct {
	Path         string `json:"path" jsonschema_description:"File to write; missing directories are made." path:"file" alias:"file_path,filename,file,absolute_path,target_file,relative_path"`
	Content      string `json:"content" jsonschema_description:"The whole text, nothing left out; with mode append, what comes to the end." alias:"contents,text,file_text,file_content,file_contents,new_content,body,data" record:"digest"`
	Mode         string `json:"mode,omitempty" jsonschema_description:"overwrite: make or replace; create: fail if it exists; append: add to the end." jsonschema:"enum=overwrite,enum=create,enum=append,default=overwrite"`
	ExpectedHash string `json:"expected_hash,omitempty" jsonschema_description:"Write only if the file still has this hash, as read_file gave it." alias:"hash,sha256"`
	Encoding     string `json:"encoding,omitempty" jsonschema_description:"Of a new file, default utf-8; an existing one keeps its own unless this converts it."`
}

// WriteFileOut describes the written file, with a diff if it replaced another.
type WriteFileOut struct{ change.Report }

func writeFileTool(d Deps) tools.Tool {
	return tools.New(tools.Def[WriteFileIn, WriteFileOut]{
		Name: "write_file", Title: "Write a file", Doc: writeFileDoc, Tags: []string{"files", "text", "new file", "overwrite", "append"},
		Aliases: []string{"file_write"}, Foreign: append(editorBy("create", nil), tools.Called("Write", "write", "create_file", "write_to_file")...),
		Access: tools.Write, Effects: tools.Workspace | tools.Destroys,
		Spellings: writeFileSpellings(),
		Limits:    tools.Limits{Facts: map[string]any{"kept": textfile.Size(workspace.MaxKept)}},
		Confirm:   writeQuestion,
		Examples: []tools.Example[WriteFileIn]{{
			Say:   "Replace a configuration",
			Files: map[string]string{"app.conf": "host=a\r\nport=80\r\n"},
			In:    WriteFileIn{Path: "app.conf", Content: "host=a\nport=8080\n"},
			Want:  "app.conf: overwritten, 2 lines (+1 -1), 19 B; utf-8, CRLF; hash …\n--- app.conf\n+++ app.conf\n@@ -1,2 +1,2 @@\n host=a\n-port=80\n+port=8080",
		}, {
			Say:  "Make a file in a new directory, if it does not exist",
			In:   WriteFileIn{Path: "docs/notes.md", Content: "# Notes\n", Mode: "create"},
			Want: "docs/notes.md: created, 1 line, 8 B; hash …",
		}},
		Run: d.writeFile,
	})
}

func (d Deps) writeFile(ctx context.Context, in WriteFileIn) (WriteFileOut, error) {
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return WriteFileOut{}, err
	}
	info, exists, err := change.LookFile(path, in.Path)
	if err != nil {
		return WriteFileOut{}, err
	}
	expect, err := change.Expectation(in.ExpectedHash)
	if err != nil {
		return WriteFileOut{}, err
	}
	w := change.Writing{Content: change.Content{Path: textfile.Path(path.String()), Text: in.Content, Encoding: in.Encoding}, At: path, Mode: in.Mode}
	op := workspace.Op{Kind: workspace.OpWrite, Path: path, Expect: expect, New: w.Compute}
	if in.Mode == "overwrite" && in.ExpectedHash == "" {
		w.Seen, _, _ = d.Seen.Last(tools.Session(ctx).Principal, path.String())
		w.Outdated = func(now workspace.Old) error { return d.writer().Stale(ctx, w.Path, w.Seen, now, "overwrites it") }
	}
	switch {
	case in.Mode == "create" && in.ExpectedHash != "":
		return WriteFileOut{}, tools.Errorf(tools.InvalidArgument, "expected_hash is of a file that exists, mode=create makes one").
			WithHint("leave one of them out")
	case in.Mode == "create":
		op.Expect.Absent = true
	case in.Mode == "append" && exists && info.Size > view.WholeSize:
		if op, err = w.AppendLarge(expect); err != nil {
			return WriteFileOut{}, err
		}
	}
	receipt, err := d.writer().Apply(ctx, workspace.Change{Tool: "write_file", Ops: []workspace.Op{op}})
	if errors.Is(err, change.ErrUnchanged) {
		return WriteFileOut{change.Report{Status: fmt.Sprintf("%s: unchanged, it has this content already; hash %s", w.Path, change.Identity(w.Old))}}, nil
	}
	if e := tools.AsError(err); e != nil {
		if in.Mode == "create" && e.Code == tools.AlreadyExists {
			return WriteFileOut{}, e.WithHint("read it first; mode=overwrite replaces it")
		}
		return WriteFileOut{}, err
	}
	return WriteFileOut{w.Report(receipt)}, nil
}

// writeQuestion asks before a call replaces content that cannot be restored.
func writeQuestion(ctx context.Context, in WriteFileIn) (tools.Question, error) {
	if in.Mode != "overwrite" {
		return tools.Question{}, nil
	}
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return tools.Question{}, err
	}
	var lost losses.Tally
	lost.Overwrite(ctx, path)
	return lost.Question(ctx), nil
}

// writeFileSpellings are the forms in which other tools say how to write.
func writeFileSpellings() []schema.Spelling {
	return []schema.Spelling{
		schema.Values("mode", map[string]string{"rewrite": "overwrite", "write": "overwrite", "replace": "overwrite", "w": "overwrite", "a": "append", "x": "create", "new": "create"}),
		schema.Flag(map[string]any{"mode": "append"}, schema.Same(), "append"),
		schema.Flag(map[string]any{"mode": "overwrite"}, map[string]any{"mode": "create"}, "overwrite", "force"),
		{Names: []string{"command"}, Read: func(given map[string]any) (map[string]any, error) {
			if given["command"] == "create" {
				return map[string]any{"mode": "create"}, nil
			}
			return nil, errors.New("write_file writes whole files; edit_file changes parts")
		}},
		schema.Flag(schema.Same(), schema.Same(), "create_dirs", "create_directories", "create_parents", "parents", "mkdir"),
		schema.Dropped("", "line_count", "is_new_file"),
	}
}
