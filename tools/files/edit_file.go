package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed edit_file.md
var editFileDoc string

// EditFileIn is a file and what to change in it.
type EditFileIn struct {
	Path         string     `json:"path" jsonschema_description:"File to edit." path:"file" alias:"file_path,filename,file,absolute_path,target_file,relative_path"`
	Edits        []TextEdit `json:"edits" jsonschema_description:"In this order, all or none." jsonschema:"minItems=1,maxItems=200" alias:"changes,replacements"`
	ExpectedHash string     `json:"expected_hash,omitempty" jsonschema_description:"Edit only if the file still has this hash, as read_file gave it." alias:"hash,sha256"`
	DryRun       bool       `json:"dry_run,omitempty" jsonschema_description:"Show the diff and write nothing." jsonschema:"default=false" alias:"preview"`
	Encoding     string     `json:"encoding,omitempty" jsonschema_description:"Instead of the detected one: gb18030, windows-1251 ..."`
}

// TextEdit is one replacement: of a text, or of whole lines.
type TextEdit struct {
	OldText       string `json:"old_text,omitempty" jsonschema_description:"Text to replace, exactly as in the file, where it must occur once." alias:"old_string,old_str,old,search,find,search_text,find_text,old_content,original,original_text,search_string" record:"digest"`
	NewText       string `json:"new_text" jsonschema_description:"Text to put there; empty deletes." alias:"new_string,new_str,new,replace,replacement,replace_text,replacement_text,new_content,replace_with,replace_string" record:"digest"`
	ReplaceAll    bool   `json:"replace_all,omitempty" jsonschema_description:"Replace every occurrence of old_text." jsonschema:"default=false" alias:"all,allow_multiple,replace_all_occurrences"`
	ExpectedCount int    `json:"expected_count,omitempty" jsonschema_description:"How often old_text must occur; all are replaced." jsonschema:"minimum=1,maximum=1000000" alias:"expected_replacements,expected_occurrences"`
	StartLine     *int   `json:"start_line,omitempty" jsonschema_description:"First line to replace, from 1; with old_text, the line on which that begins." jsonschema:"minimum=1,maximum=100000000"`
	EndLine       *int   `json:"end_line,omitempty" jsonschema_description:"Last of these lines, default start_line; one less than start_line inserts before it." jsonschema:"minimum=0,maximum=100000000"`
}

// EditFileOut reports the changes of a file.
type EditFileOut struct{ change.Report }

func editFileTool(d Deps) tools.Tool {
	return tools.New(tools.Def[EditFileIn, EditFileOut]{
		Name: "edit_file", Title: "Edit a file", Doc: editFileDoc, Tags: []string{"files", "text", "replace", "lines"},
		Aliases: []string{"edit"}, Foreign: slices.Concat(editorBy("str_replace", map[string]any{"new_str": ""}), editorBy("insert", nil),
			tools.Called("Edit", "MultiEdit", "multi_edit", "replace", "search_replace", "str_replace", "replace_string_in_file", "edit_block")),
		Access: tools.Write, Effects: tools.Workspace | tools.Destroys,
		Spellings: editFileSpellings(),
		Limits:    tools.Limits{Facts: map[string]any{"most": textfile.Size(workspace.MaxEdit)}},
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
	if _, exists, err := change.LookFile(path, in.Path); err != nil || !exists {
		return EditFileOut{}, change.Missing(path, err)
	}
	e, err := d.writer().Editing(ctx, path, in.ExpectedHash, in.Encoding)
	if err != nil {
		return EditFileOut{}, err
	}
	for i, edit := range in.Edits {
		one, err := edit.value()
		if err != nil {
			return EditFileOut{}, tools.Errorf(tools.InvalidArgument, "%s: edit %d: %s", e.Path, i+1, err.Msg).WithHint("%s", err.Hint)
		}
		e.Edits = append(e.Edits, one)
	}
	receipt, err := d.writer().Apply(ctx, workspace.Change{
		Tool: "edit_file", DryRun: in.DryRun,
		Ops: []workspace.Op{{Kind: workspace.OpWrite, Path: path, Expect: e.Expect, New: e.Compute}},
	})
	if errors.Is(err, change.ErrUnchanged) {
		return EditFileOut{change.Report{Status: fmt.Sprintf("%s: unchanged, the edits put back what they replace; hash %s", e.Path, change.Identity(e.Old)), Notes: e.Result.Notes}}, nil
	}
	if err != nil {
		return EditFileOut{}, err
	}
	return EditFileOut{e.Report(receipt, in.DryRun)}, nil
}

// value converts the edit to one of textedit.
func (t TextEdit) value() (textedit.Edit, *tools.Error) {
	bad := func(msg, hint string) (textedit.Edit, *tools.Error) {
		return textedit.Edit{}, &tools.Error{Code: tools.InvalidArgument, Msg: msg, Hint: hint}
	}
	out := textedit.Edit{Old: t.OldText, New: t.NewText, All: t.ReplaceAll, Count: t.ExpectedCount}
	switch {
	case t.StartLine == nil && t.EndLine != nil:
		return bad("end_line without start_line", "give both, or old_text")
	case t.StartLine == nil:
		return out, nil
	case t.OldText == "" && (t.ReplaceAll || t.ExpectedCount > 0):
		return bad("replace_all and expected_count belong to old_text", "leave them out where lines are given by number")
	}
	out.StartLine, out.EndLine = *t.StartLine, *t.StartLine
	if t.EndLine != nil {
		out.EndLine = *t.EndLine
	}
	return out, nil
}

// editFileSpellings are the forms in which other tools take edits.
func editFileSpellings() []schema.Spelling {
	return []schema.Spelling{
		{Names: []string{"command", "insert_line", "insert", "start_line", "end_line", "insert_text", "new_str", "new_text"}, Read: inserted},
		{Names: []string{"diff", "patch"}, Read: func(map[string]any) (map[string]any, error) {
			return nil, errors.New("apply_patch takes a diff; here give edits: [{old_text, new_text}]")
		}},
		{Names: []string{"code_edit", "content"}, Read: func(map[string]any) (map[string]any, error) {
			return nil, errors.New("give edits: [{old_text, new_text}], or the whole text to write_file")
		}},
	}
}

// inserted reads a text to insert after a line, or before one, and the commands of a tool that
// has several.
func inserted(given map[string]any) (map[string]any, error) {
	text, isText := "", false
	for _, name := range []string{"insert_text", "new_text", "new_str"} {
		if other, ok := given[name].(string); ok {
			text, isText = other, true
		}
	}
	line, isLine := schema.Int(given["insert_line"])
	if before, ok := schema.Bool(given["insert"]); ok && !before {
		delete(given, "insert")
		return given, nil
	} else if first, isFirst := schema.Int(given["start_line"]); before && isFirst && !isLine {
		line, isLine = first-1, true
	}
	switch command := given["command"]; {
	case isLine && isText && (command == nil || command == "insert"):
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return map[string]any{"edits": []any{map[string]any{"start_line": line + 1, "end_line": line, "new_text": text}}}, nil
	case command == "str_replace":
		return map[string]any{"new_text": text}, nil
	case command == nil || command == "insert":
		return nil, nil
	}
	return nil, errors.New("edit_file edits; read_file, write_file and restore_file do the rest")
}
