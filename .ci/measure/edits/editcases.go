package edits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// Editcases puts the cases of testdata/edits to toolcrib and to two peers, each as
// far as its tool can be asked.
func Editcases(ctx context.Context, env harness.Environment) error {
	cases, err := readEditCases("testdata/edits")
	if err != nil {
		return err
	}
	if len(cases) < 60 {
		return fmt.Errorf("%d cases, want 60", len(cases))
	}
	base, dir, err := env.Scratch("editcases")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	home := filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		return err
	}
	claude, err := claudeTools(env, home)
	if err != nil {
		return err
	}
	editors := []caseEditor{
		{program: env.Writer(dir, "--durable=false"), tool: "edit_file", args: ownArgs},
		{program: env.Peer(dir), tool: "edit_file", args: peerArgs},
		{program: claude, tool: "Edit", args: claudeArgs, before: "Read"},
	}
	fmt.Printf("| %d edit cases | correct | refused, nothing lost | wrong | cannot be asked of its tool |\n|---|---|---|---|---|\n", len(cases))
	var failed error
	for i := range editors {
		e := &editors[i]
		if err := e.take(ctx, dir, cases); err != nil {
			return fmt.Errorf("%s: %w", e.program.Name, err)
		}
		fmt.Printf("| %s %s | %d | %d | %d | %d |\n", e.program.Name, e.tool, e.correct, len(e.refused), len(e.wrong), len(e.unasked))
		if i == 0 && e.correct != len(cases) {
			failed = fmt.Errorf("%d of %d cases", e.correct, len(cases))
		}
	}
	for i := range editors {
		e := &editors[i]
		fmt.Printf("\n%s: refused: %s\nwrong: %s\nnot asked: %s\n", e.program.Name,
			strings.Join(e.refused, " "), strings.Join(e.wrong, " "), strings.Join(e.unasked, " "))
	}
	return failed
}

// claudeTools is Claude Code serving its own tools, in a home of its own.
func claudeTools(e harness.Environment, home string) (harness.Program, error) {
	path, err := e.ClaudeProgram()
	return harness.Program{Name: "Claude Code", Args: []string{
		"env", "-i", "PATH=" + os.Getenv("PATH"), "HOME=" + home, "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", path, "mcp", "serve",
	}}, err
}

// caseEditor is an editing tool of a server, and how it did.
type caseEditor struct {
	program harness.Program
	tool    string
	args    func(path string, c editCase) (args map[string]any, ok bool)
	before  string // what has to be called before, if anything

	correct                 int
	refused, wrong, unasked []string
}

func (e *caseEditor) take(ctx context.Context, dir string, cases []editCase) error {
	server, err := harness.UseTools(ctx, e.program)
	if err != nil {
		return err
	}
	for i, c := range cases {
		file := filepath.Join(dir, fmt.Sprintf("%s-%d", e.tool, i)) // no server knows it from before
		if err := os.WriteFile(file, c.before, 0o644); err != nil {
			return err
		}
		args, ok := e.args(file, c)
		if !ok {
			e.unasked = append(e.unasked, c.name)
			continue
		}
		if e.before != "" {
			if _, err := server.Use(e.before, map[string]any{"file_path": file}); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		answer, err := server.Use(e.tool, args)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		e.judge(c, answer, string(got))
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return errors.Join(server.Close(), ctx.Err())
}

func (e *caseEditor) judge(c editCase, answer harness.Answer, got string) {
	switch {
	case got == c.after && (c.refused || !answer.Failed):
		e.correct++
	case got == string(c.before) && answer.Failed:
		e.refused = append(e.refused, c.name)
	default:
		e.wrong = append(e.wrong, c.name)
	}
}

func ownArgs(path string, c editCase) (map[string]any, bool) {
	args := map[string]any{"path": path, "edits": c.call.Edits}
	if c.call.DryRun {
		args["dry_run"] = true
	}
	if c.call.ExpectedHash != "" {
		args["expected_hash"] = c.call.ExpectedHash
	}
	if c.call.Encoding != "" {
		args["encoding"] = c.call.Encoding
	}
	return args, true
}

// textEdits are the edits of a case as pairs of texts, where that is all they are: other
// tools can be given these.
func textEdits(c editCase) (edits [][2]string, ok bool) {
	if strings.HasPrefix(c.name, "shown_") || strings.HasPrefix(c.name, "placeholder") || c.name == "indent_in_new_first" { // rules of toolcrib alone
		return nil, false
	}
	if c.call.ExpectedHash != "" || c.call.Encoding != "" {
		return nil, false
	}
	for _, edit := range c.call.Edits {
		var texts [2]string
		for key, value := range edit {
			switch key {
			case "old_text":
				texts[0] = value.(string)
			case "new_text":
				texts[1] = value.(string)
			default:
				return nil, false
			}
		}
		if _, ok := edit["old_text"]; !ok {
			return nil, false
		}
		edits = append(edits, texts)
	}
	return edits, true
}

func peerArgs(path string, c editCase) (map[string]any, bool) {
	edits, ok := textEdits(c)
	var list []map[string]any
	for _, edit := range edits {
		list = append(list, map[string]any{"oldText": edit[0], "newText": edit[1]})
	}
	return map[string]any{"path": path, "edits": list, "dryRun": c.call.DryRun}, ok
}

func claudeArgs(path string, c editCase) (map[string]any, bool) {
	all := false
	if len(c.call.Edits) == 1 && c.call.Edits[0]["replace_all"] == true {
		edit := map[string]any{"old_text": c.call.Edits[0]["old_text"], "new_text": c.call.Edits[0]["new_text"]}
		if len(c.call.Edits[0]) != 3 || edit["old_text"] == nil {
			return nil, false
		}
		c.call.Edits, all = []map[string]any{edit}, true
	}
	edits, ok := textEdits(c)
	if !ok || len(edits) != 1 || c.call.DryRun {
		return nil, false
	}
	return map[string]any{"file_path": path, "old_string": edits[0][0], "new_string": edits[0][1], "replace_all": all}, true
}

func readEditCases(dir string) ([]editCase, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	cases := make([]editCase, len(names))
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err == nil {
			err = cases[i].read(data)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		cases[i].name = strings.TrimSuffix(filepath.Base(name), ".txtar")
	}
	return cases, nil
}
