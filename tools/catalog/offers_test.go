package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/catalog"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

var offerName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// sentence reports what a text for people lacks.
func sentence(text string) string {
	switch n := len([]rune(text)); {
	case n == 0 || n > 200:
		return "must have 1 to 200 characters"
	case strings.TrimSpace(text) != text || strings.Contains(text, "\n"):
		return "must be one line"
	}
	return ""
}

// TestSources holds for every family of resources.
func TestSources(t *testing.T) {
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "a\n", "b/c.txt": "c\n"})
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	caller := new(tooltest.Caller)
	d := catalog.All(&catalog.Services{Caller: caller})
	caller.All = catalog.Tools(d)
	sources := catalog.Sources(d, catalog.Tools(d))
	filled := fill(ctx, t, ws, d)
	if len(sources) < 2 {
		t.Fatalf("%d sources", len(sources))
	}
	var names []string
	for _, src := range sources {
		t.Run(src.Name, func(t *testing.T) {
			described(t, names, src.Name, src.Title, src.Description)
			names = append(names, src.Name)
			if _, taken := catalog.Find(all(), src.Read.Name); taken || src.Read.Access != tools.Read || !src.Read.Repeatable {
				t.Errorf("%s has the name of a tool, or does not only read", src.Read.Name)
			}
			if src.Template == "" && src.List == nil {
				t.Error("its resources can be neither listed nor named by a template")
			}
			if strings.Contains(src.Template, "{") && src.Complete == nil {
				t.Errorf("the variables of %s cannot be completed", src.Template)
			}
			if src.List == nil {
				return
			}
			switch has, known := filled[src.Name]; {
			case !known:
				t.Error("fill makes none of it")
			case has:
				listed(t, ctx, sources, src)
			}
		})
		t.Run(src.Name+"/read", func(t *testing.T) { tooltest.Run(t, src.Read) })
	}
}

// described checks the name of an offer, which is none of those before it, and its texts.
func described(t *testing.T, before []string, name, title, description string) {
	t.Helper()
	if !offerName.MatchString(name) || slices.Contains(before, name) {
		t.Errorf("name %q is wrong or taken", name)
	}
	if bad := sentence(title); bad != "" {
		t.Errorf("title %q %s", title, bad)
	}
	if bad := sentence(description); bad != "" || !strings.HasSuffix(description, ".") {
		t.Errorf("description %q %s", description, bad)
	}
}

// fill makes resources: a command runs whose output is one, a memory is written, a schedule made,
// and an agent answers. It returns the sources that it knows, by name, and whether they have some:
// without the tool that makes them they have none.
func fill(ctx context.Context, t *testing.T, ws *workspace.Workspace, d []tools.Category) map[string]bool {
	t.Helper()
	answering(t, d)
	all := catalog.Tools(d)
	other := all[slices.IndexFunc(all, func(t tools.Tool) bool { return t.Access == tools.Read && t.Repeatable })]
	filled := map[string]bool{"file": true, "manual": true}
	for source, call := range map[string][2]string{
		"job":      {"bash", `{"command": "echo hello; sleep 5", "background": true}`},
		"memory":   {"memory_write", `{"content": "hello"}`},
		"schedule": {"schedule_create", fmt.Sprintf(`{"name": "a", "when": "@yearly", "tool": %q, "arguments": %s}`, other.Name, other.Examples()[0].Args)},
		"run":      {"run_agent", `{"task":"say hello"}`},
	} {
		tool, ok := catalog.Find(all, call[0])
		if filled[source] = ok; !ok {
			continue
		}
		if _, err := tooltest.Call(ctx, ws, tool, json.RawMessage(call[1])); err != nil {
			t.Fatalf("%s: %v", call[0], err)
		}
	}
	return filled
}

// answering configures a model that answers.
func answering(t *testing.T, d []tools.Category) {
	t.Helper()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(model.Close)
	set := new(agents.Settings)
	if err := json.Unmarshal(fmt.Appendf(nil, `{"models":{"main":{"url":%q,"model":"m"}}}`, model.URL), &set.Agents); err != nil {
		t.Fatal(err)
	}
	for _, category := range d {
		if category.ID == "agents" {
			category.Settings.Apply(set, tools.Setup{})
		}
	}
}

// listed checks the resources of a list: that each belongs to its source, reads,
// has a version and its size.
func listed(t *testing.T, ctx context.Context, sources []tools.Source, src tools.Source) {
	list, err := src.List(ctx)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d resources, %v", len(list), err)
	}
	for _, r := range list {
		if r.URI == "" || sentence(r.Name) != "" {
			t.Errorf("resource %+v", r)
		}
		owner := slices.IndexFunc(sources, func(s tools.Source) bool { _, ok := s.Args(r.URI); return ok })
		if owner < 0 || sources[owner].Name != src.Name {
			t.Errorf("%s belongs to another source", r.URI)
			continue
		}
		args, _ := src.Args(r.URI)
		result, err := tooltest.Call(ctx, tools.Session(ctx).Workspace, src.Read, args)
		if err != nil || len(result.Content) != 1 {
			t.Errorf("%s: %d blocks, %v", r.URI, len(result.Content), err)
			continue
		}
		b := result.Content[0]
		if b.Kind != tools.TextBlock && (b.Kind != tools.ResourceBlock || b.URI != r.URI || b.MIME == "") {
			t.Errorf("%s is read as %+v", r.URI, b)
		}
		if n := int64(len(b.Text) + len(b.Data)); r.Size >= 0 && n != r.Size {
			t.Errorf("%s has %d bytes, the list says %d", r.URI, n, r.Size)
		}
		if src.Version == nil {
			continue
		}
		if v, err := src.Version(ctx, r.URI); err != nil || v == "" {
			t.Errorf("version of %s: %q, %v", r.URI, v, err)
		}
	}
}

// Resources go with the tools that can be called.
func TestSourcesFollowTools(t *testing.T) {
	names := func(enabled []tools.Tool) (names []string) {
		for _, src := range catalog.Sources(categories(), enabled) {
			names = append(names, src.Name)
		}
		return names
	}
	without := slices.DeleteFunc(all(), func(t tools.Tool) bool { return t.Name == "read_file" })
	for _, tt := range []struct {
		enabled []tools.Tool
		want    []string
	}{{all(), []string{"run", "file", "memory", "schedule", "job", "web", "manual"}}, {without, []string{"run", "memory", "schedule", "job", "web", "manual"}}, {nil, nil}} {
		if got := names(tt.enabled); !slices.Equal(got, tt.want) {
			t.Errorf("with %d tools: %q, want %q", len(tt.enabled), got, tt.want)
		}
	}
}

func TestManualSource(t *testing.T) {
	var enabled []tools.Tool
	for _, tool := range all() {
		if tool.Category == "search" && tool.Name != "glob" {
			enabled = append(enabled, tool)
		}
	}
	sources := catalog.Sources(categories(), enabled)
	src := sources[len(sources)-1]
	ws, _ := tooltest.Tree(t, nil)
	args, ok := src.Args("toolcrib://manual/search")
	if !ok {
		t.Fatal("toolcrib://manual/search is not a page")
	}
	result, err := tooltest.Call(t.Context(), ws, src.Read, args)
	if err != nil {
		t.Fatal(err)
	}
	if text := result.Content[0].Text; !strings.HasPrefix(text, "# search\n\n## grep\n") || strings.Contains(text, "## glob") {
		t.Errorf("the manual:\n%.300s", text)
	}
	for _, uri := range []string{"toolcrib://manual/files", "toolcrib://manual/", "toolcrib://manual/search/x", "toolcrib://Manual/search", "file:///search"} {
		if _, ok := src.Args(uri); ok {
			t.Errorf("%s is a page", uri)
		}
	}
	for prefix, want := range map[string][]string{"": {"search"}, "se": {"search"}, "x": nil} {
		if got, err := src.Complete(t.Context(), "category", prefix); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", prefix, got, err)
		}
	}
}

// shownCall is a call in the text of a prompt.
var shownCall = regexp.MustCompile("`([a-z_]+) (\\{[^`]*\\})`")

// TestPrompts holds for every prompt, with each of its arguments and without.
func TestPrompts(t *testing.T) {
	var names []string
	for _, p := range catalog.Prompts(categories()) {
		t.Run(p.Name, func(t *testing.T) {
			described(t, names, p.Name, p.Title, p.Description)
			names = append(names, p.Name)
			for _, name := range p.Needs {
				if _, ok := catalog.Find(all(), name); !ok {
					t.Errorf("needs %q, which no tool is called", name)
				}
			}
			given := map[string]string{}
			for _, a := range p.Args {
				if !offerName.MatchString(a.Name) || sentence(a.Title) != "" || sentence(a.Description) != "" {
					t.Errorf("argument %+v", a)
				}
				if a.Required {
					given[a.Name] = "<the " + a.Name + "> \"`{{.}}"
				}
			}
			rendered(t, p, given)
			for _, a := range p.Args {
				given[a.Name] = "<the " + a.Name + "> \"{{.}}"
				rendered(t, p, given)
			}
		})
	}
}

// rendered checks the text of a prompt: the arguments are in it, the tools that
// it names are those it needs, and the calls that it shows are valid.
func rendered(t *testing.T, p tools.Prompt, given map[string]string) {
	t.Helper()
	blocks, err := p.Render(t.Context(), given)
	if err != nil || len(blocks) != 1 || blocks[0].Kind != tools.TextBlock {
		t.Fatalf("%v: %d blocks, %v", given, len(blocks), err)
	}
	text := blocks[0].Text
	if n := len(text); n < 200 || n > 3000 || strings.Contains(text, "no value") || !strings.HasSuffix(text, "\n") {
		t.Errorf("%v: %d bytes of text:\n%s", given, n, text)
	}
	for name, value := range given {
		quoted := strings.ReplaceAll(value, `"`, `\"`)
		if !strings.Contains(text, value) && !strings.Contains(text, quoted) {
			t.Errorf("%s is not in the text:\n%s", name, text)
		}
	}
	for _, need := range p.Needs {
		if !strings.Contains(text, "`"+need) {
			t.Errorf("needs %s and does not name it", need)
		}
	}
	for _, tool := range all() {
		if strings.Contains(text, "`"+tool.Name) && !slices.Contains(p.Needs, tool.Name) {
			t.Errorf("names %s and does not need it", tool.Name)
		}
	}
	for _, m := range shownCall.FindAllStringSubmatch(text, -1) {
		tool, ok := catalog.Find(all(), m[1])
		if !ok {
			t.Errorf("no tool is called %q", m[1])
			continue
		}
		if bound, err := tool.Bind(json.RawMessage(m[2])); err != nil || len(bound.Mends) > 0 {
			t.Errorf("%s: %v %q", m[0], err, bound.Mends)
		}
	}
}

// Every template belongs to a prompt.
func TestPromptTexts(t *testing.T) {
	var names []string
	for _, p := range catalog.Prompts(categories()) {
		names = append(names, p.Name+".md")
	}
	err := filepath.WalkDir("prompts", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !slices.Contains(names, d.Name()) {
			t.Errorf("%s belongs to no prompt", file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
