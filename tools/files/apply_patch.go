package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/losses"
	"toolcrib/tools/internal/text/patch"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

//go:embed apply_patch.md
var applyPatchDoc string

// ApplyPatchIn is a patch.
type ApplyPatchIn struct {
	Patch    string `json:"patch" jsonschema_description:"*** Begin Patch envelope, or a unified or git diff." jsonschema:"minLength=1" alias:"input,diff,patch_text,content,patch_content,unified_diff" record:"digest"`
	DryRun   bool   `json:"dry_run,omitempty" jsonschema_description:"Show the diff and write nothing." jsonschema:"default=false" alias:"preview,check"`
	Encoding string `json:"encoding,omitempty" jsonschema_description:"Instead of the detected one: gb18030, windows-1251 ..."`
}

// ApplyPatchOut reports the changes of a patch.
type ApplyPatchOut struct{ change.Report }

// Trim keeps as many lines of files as fit. The files of the cut lines were changed too.
func (o ApplyPatchOut) Trim(budget int) ApplyPatchOut {
	const reserved = 300 // for the lines that name omitted parts
	room := budget - len(o.Status) - len(o.Diff) - reserved
	o.Notes, room = fitting(o.Notes, "note: ", room/4, room, "notes")
	o.Files, _ = fitting(o.Files, "", room, room, "files; file_history with limit=1 lists all")
	return o
}

// fitting returns the lines that fit into a share of the room, with a line that counts the
// others, and the remaining room.
func fitting(lines []string, prefix string, share, room int, what string) (kept []string, left int) {
	for i, l := range lines {
		n := len("\n") + len(prefix) + len(l)
		if share -= n; share < 0 {
			return append(lines[:i:i], fmt.Sprintf("… and %d more %s", len(lines)-i, what)), room
		}
		room -= n
	}
	return lines, room
}

func applyPatchTool(d Deps) tools.Tool {
	return tools.New(tools.Def[ApplyPatchIn, ApplyPatchOut]{
		Name: "apply_patch", Title: "Apply a patch", Doc: applyPatchDoc, Tags: []string{"files", "text", "unified diff", "several files"},
		Access: tools.Write, Effects: tools.Workspace | tools.Destroys,
		Spellings: patchSpellings(),
		Limits: tools.Limits{Facts: map[string]any{
			"most": textfile.Size(workspace.MaxEdit), "diff": change.EditDiff,
		}},
		Confirm: patchQuestion,
		Examples: []tools.Example[ApplyPatchIn]{{
			Say:   "Change two files together",
			Files: map[string]string{"lib/greet.py": "def greet():\n    print(\"hi\")\n", "old.txt": "old\n"},
			In: ApplyPatchIn{Patch: "*** Begin Patch\n*** Update File: lib/greet.py\n def greet():\n-    print(\"hi\")\n+    print(\"hello\")\n" +
				"*** Add File: docs/new.md\n+# New\n*** Delete File: old.txt\n*** End Patch\n"},
			Want: "patched 3 files: +2 -2…\nM lib/greet.py: hunk at line 1; hash …\nA docs/new.md: 1 line; hash …\nD old.txt: 1 line",
			After: map[string]string{
				"lib/greet.py": "def greet():\n    print(\"hello\")\n", "docs/new.md": "# New\n",
			},
		}, {
			Say:   "See what a diff would do",
			Files: map[string]string{"a.txt": "zero\none\ntwo\n"},
			In:    ApplyPatchIn{Patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n", DryRun: true},
			Want: "not patched (dry run), 1 file: +1 -1\nM a.txt: hunk at line 2 (+1 from patch); hash would be …\n" +
				"--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n zero\n-one\n+1\n two",
			After: map[string]string{"a.txt": "zero\none\ntwo\n"},
		}},
		Run: d.applyPatch,
	})
}

// patchQuestion asks before a patch deletes files that cannot be restored.
func patchQuestion(ctx context.Context, in ApplyPatchIn) (tools.Question, error) {
	parsed, _, err := patch.Parse(in.Patch)
	if err != nil || in.DryRun {
		return tools.Question{}, nil //nolint:nilerr // the call itself reports what is wrong with the patch
	}
	var lost losses.Tally
	for _, f := range parsed {
		if f.Kind != patch.Delete {
			continue
		}
		if path, err := tools.Resolve(ctx, f.Path); err == nil { // else the call itself reports the error
			err = lost.Delete(ctx, path, false)
			if err != nil {
				return tools.Question{}, err
			}
		}
	}
	return lost.Question(ctx), nil
}

func (d Deps) applyPatch(ctx context.Context, in ApplyPatchIn) (ApplyPatchOut, error) {
	parsed, notes, err := patch.Parse(in.Patch)
	if e, ok := errors.AsType[*patch.Error](err); ok {
		return ApplyPatchOut{}, change.Detailed(tools.InvalidArgument, e.Error()+"; nothing is changed", "", e.Hint, err)
	}
	if err != nil {
		return ApplyPatchOut{}, err
	}
	var named *textfile.Encoding
	if in.Encoding != "" {
		enc, err := view.LookupEncoding(in.Encoding)
		if err != nil {
			return ApplyPatchOut{}, err
		}
		named = &enc
	}
	all, refused := d.writer().Patchings(ctx, parsed, named)
	attempt := workspace.Change{Tool: "apply_patch", DryRun: in.DryRun}
	for _, p := range all {
		attempt.Ops = append(attempt.Ops, p.Op)
	}
	if refused != nil {
		return ApplyPatchOut{}, d.writer().Explain(ctx, errors.Join(refused, tryChange(ctx, attempt)))
	}
	receipt, err := d.writer().Apply(ctx, attempt)
	if e := tools.AsError(err); e != nil {
		if e.Code == tools.AlreadyExists && e.Hint == "" {
			return ApplyPatchOut{}, e.WithHint("*** Update File: changes a file, write_file replaces one")
		}
		return ApplyPatchOut{}, e
	}
	return ApplyPatchOut{change.ReportPatch(all, receipt, notes, in.DryRun)}, nil
}

// tryChange returns the errors of the part of a change that could be prepared, so that a
// caller can correct everything at once.
func tryChange(ctx context.Context, c workspace.Change) error {
	if len(c.Ops) == 0 || ctx.Err() != nil {
		return nil
	}
	c.DryRun = true
	_, err := tools.Session(ctx).Workspace.Apply(ctx, c)
	return err
}

// patchSpellings are the forms in which other tools take a patch.
func patchSpellings() []schema.Spelling {
	return []schema.Spelling{{Names: []string{"patch", "command"}, Read: func(given map[string]any) (map[string]any, error) {
		if list, ok := schema.Strings(given["patch"]); ok {
			return map[string]any{"patch": strings.Join(list, "\n")}, nil
		}
		if list, ok := schema.Strings(given["command"]); ok && len(list) == 2 && list[0] == "apply_patch" && given["patch"] == nil {
			return map[string]any{"patch": list[1]}, nil
		}
		return nil, nil
	}}}
}
