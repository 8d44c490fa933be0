package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"toolcrib/tools"
	"toolcrib/tools/internal/textfile"
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
	Encoding     string `json:"encoding,omitempty" jsonschema_description:"Of a new file, default utf-8 (gb18030, utf-16le ...); an existing file keeps its own unless this converts it."`
}

// WriteFileOut is what was written.
type WriteFileOut struct {
	Status string
	Notes  []string
	Diff   string // of a file that was replaced
}

// Text words the result.
func (o WriteFileOut) Text() string { return changeText(o.Status, o.Notes, o.Diff) }

func writeFileTool(d Deps) tools.Tool {
	return tools.New(tools.Def[WriteFileIn, WriteFileOut]{
		Name: "write_file", Title: "Write a file", Doc: writeFileDoc, Tags: []string{"files", "text"},
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
	info, exists, err := lookFile(path, in.Path)
	if err != nil {
		return WriteFileOut{}, err
	}
	expect, err := expectation(in.ExpectedHash)
	if err != nil {
		return WriteFileOut{}, err
	}
	w := writing{content: content{path: textfile.Path(path.String()), text: in.Content, encoding: in.Encoding}, at: path, mode: in.Mode}
	op := workspace.Op{Kind: workspace.OpWrite, Path: path, Expect: expect, New: w.compute}
	if in.Mode == "overwrite" && in.ExpectedHash == "" {
		w.seen, _, _ = d.Seen.Last(tools.Session(ctx).Principal, path.String())
		w.outdated = func(now workspace.Old) error { return d.stale(ctx, w.path, w.seen, now, "overwrites it") }
	}
	switch {
	case in.Mode == "create" && in.ExpectedHash != "":
		return WriteFileOut{}, tools.Errorf(tools.InvalidArgument, "expected_hash is of a file that exists, mode=create makes one").
			WithHint("leave one of them out")
	case in.Mode == "create":
		op.Expect.Absent = true
	case in.Mode == "append" && exists && info.Size > wholeSize:
		if op, err = w.appendLarge(expect); err != nil {
			return WriteFileOut{}, err
		}
	}
	receipt, err := d.apply(ctx, workspace.Change{Tool: "write_file", Ops: []workspace.Op{op}})
	if errors.Is(err, errUnchanged) {
		return WriteFileOut{Status: fmt.Sprintf("%s: unchanged, it has this content already; hash %s", w.path, identity(w.old))}, nil
	}
	if e := tools.AsError(err); e != nil {
		if in.Mode == "create" && e.Code == tools.AlreadyExists {
			return WriteFileOut{}, e.WithHint("read it first; mode=overwrite replaces it")
		}
		return WriteFileOut{}, err
	}
	return w.result(receipt), nil
}

// writeQuestion asks before a content is replaced that cannot come back.
func writeQuestion(ctx context.Context, in WriteFileIn) (tools.Question, error) {
	if in.Mode != "overwrite" {
		return tools.Question{}, nil
	}
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return tools.Question{}, err
	}
	there, why := irreversible(ctx, path, true)
	if why == "" {
		return tools.Question{}, nil
	}
	return tools.Question{Message: fmt.Sprintf("overwrite %s; %s", there, why)}, nil
}
