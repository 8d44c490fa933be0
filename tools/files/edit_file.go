package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"toolcrib/tools"
	"toolcrib/tools/internal/diff"
	"toolcrib/tools/internal/textfile"
	"toolcrib/workspace"
)

//go:embed edit_file.md
var editFileDoc string

// EditFileIn is a file and what to change in it.
type EditFileIn struct {
	Path         string     `json:"path" jsonschema_description:"File to edit." path:"file" alias:"file_path,filename,file,absolute_path,target_file,relative_path"`
	Edits        []TextEdit `json:"edits" jsonschema_description:"Edits, made in this order, all or none." jsonschema:"minItems=1,maxItems=200" alias:"changes,replacements"`
	ExpectedHash string     `json:"expected_hash,omitempty" jsonschema_description:"Edit only if the file still has this hash, as read_file gave it." alias:"hash,sha256"`
	DryRun       bool       `json:"dry_run,omitempty" jsonschema_description:"Show the diff and write nothing." jsonschema:"default=false" alias:"preview"`
	Encoding     string     `json:"encoding,omitempty" jsonschema_description:"Encoding of the file (gb18030, windows-1251 ...) instead of what is detected."`
}

// TextEdit is one replacement: of a text, or of whole lines.
type TextEdit struct {
	OldText       string `json:"old_text,omitempty" jsonschema_description:"Text to replace, exactly as in the file; it must stand there once." alias:"old_string,old_str,old,search,find,search_text,find_text,old_content,original,original_text,search_string" record:"digest"`
	NewText       string `json:"new_text" jsonschema_description:"Text to put there; empty deletes." alias:"new_string,new_str,new,replace,replacement,replace_text,replacement_text,new_content,replace_with,replace_string" record:"digest"`
	ReplaceAll    bool   `json:"replace_all,omitempty" jsonschema_description:"Replace every occurrence of old_text." jsonschema:"default=false" alias:"all,allow_multiple,replace_all_occurrences"`
	ExpectedCount int    `json:"expected_count,omitempty" jsonschema_description:"How often old_text must stand in the file; all are replaced." jsonschema:"minimum=1,maximum=1000000" alias:"expected_replacements,expected_occurrences"`
	StartLine     *int   `json:"start_line,omitempty" jsonschema_description:"First of the whole lines to replace, counted from 1; with old_text, the line on which that begins." jsonschema:"minimum=1,maximum=100000000"`
	EndLine       *int   `json:"end_line,omitempty" jsonschema_description:"Last of these lines, default start_line; one less than start_line inserts before it." jsonschema:"minimum=0,maximum=100000000"`
}

// EditFileOut is what was changed.
type EditFileOut struct {
	Status string
	Notes  []string
	Diff   string
}

// Text words the result.
func (o EditFileOut) Text() string { return changeText(o.Status, o.Notes, o.Diff) }

func editFileTool(d Deps) tools.Tool {
	return tools.New(tools.Def[EditFileIn, EditFileOut]{
		Name: "edit_file", Title: "Edit a file", Doc: editFileDoc, Tags: []string{"files", "text"},
		Access: tools.Write, Effects: tools.Workspace | tools.Destroys,
		Spellings: editFileSpellings(),
		Limits:    tools.Limits{Facts: map[string]any{"most": fmt.Sprintf("%d MiB", workspace.MaxEdit>>20)}},
		Examples: []tools.Example[EditFileIn]{{
			Say:   "Change one line",
			Files: map[string]string{"main.go": "package main\n\nfunc main() {\n\tserve(80)\n}\n"},
			In:    EditFileIn{Path: "main.go", Edits: []TextEdit{{OldText: "serve(80)", NewText: "serve(8080)"}}},
			Want: "main.go: edited, 1 replacement at line 4; +1 -1; hash …\n--- main.go\n+++ main.go\n@@ -1,5 +1,5 @@\n" +
				" package main\n \n func main() {\n-\tserve(80)\n+\tserve(8080)\n }",
		}, {
			Say:   "Rename everywhere, and see what that would do",
			Files: map[string]string{"a.py": "x = 1\nprint(x)\n"},
			In:    EditFileIn{Path: "a.py", Edits: []TextEdit{{OldText: "x", NewText: "total", ReplaceAll: true}}, DryRun: true},
			Want:  "a.py: not written (dry run), 2 replacements at lines 1, 2; +2 -2; hash would be …\n--- a.py\n+++ a.py\n...",
		}},
		Run: d.editFile,
	})
}

func (d Deps) editFile(ctx context.Context, in EditFileIn) (EditFileOut, error) {
	path, err := tools.Resolve(ctx, in.Path)
	if err != nil {
		return EditFileOut{}, err
	}
	if _, exists, err := lookFile(path, in.Path); err != nil || !exists {
		return EditFileOut{}, missing(path, err)
	}
	e, err := newEditing(ctx, d.Seen, path, in)
	if err != nil {
		return EditFileOut{}, err
	}
	receipt, err := d.apply(ctx, workspace.Change{
		Tool: "edit_file", DryRun: in.DryRun,
		Ops: []workspace.Op{{Kind: workspace.OpWrite, Path: path, Expect: e.expect, New: e.compute}},
	})
	if errors.Is(err, errUnchanged) {
		return EditFileOut{Status: fmt.Sprintf("%s: unchanged, the edits put back what they replace; hash %s", e.path, identity(e.old)), Notes: e.result.Notes}, nil
	}
	if err != nil {
		return EditFileOut{}, err
	}
	return e.out(receipt, in.DryRun), nil
}

// out words the result.
func (e *editing) out(r workspace.Receipt, dryRun bool) EditFileOut {
	lines := make([]int, len(e.result.Hunks))
	for i, h := range e.result.Hunks {
		lines[i] = h.NewLine
	}
	done := r.Done[0]
	verb := "edited"
	if dryRun {
		verb = "not written (dry run)"
	}
	at := "line "
	if len(lines) != 1 {
		at = "lines "
	}
	before, _ := shown(e.old.Data, e.form)
	now, _ := shown(e.result.Data, e.form)
	return EditFileOut{
		Status: fmt.Sprintf("%s: %s, %s at %s%s; %s%s%s", e.path, verb, textfile.Count(e.result.Replacements, "replacement"), at, numberList(lines),
			plusMinus(before, now), describeForm(e.form, e.result.Data[e.form.BOM:]), aftermath(r, done.After, dryRun)),
		Notes: notesOf(e.at.String(), done, e.result.Notes),
		Diff:  diff.Unified(before, now, diff.Options{From: e.path, To: e.path, MaxBytes: editDiff}),
	}
}
