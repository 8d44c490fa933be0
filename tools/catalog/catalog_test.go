package catalog_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/tooltest"
)

var update = flag.Bool("update", false, "rewrite the snapshots, the manual pages, the README's table and the wanted results")

// TestMain lets the test's own binary run the programs that tools start of it.
func TestMain(m *testing.M) {
	if exit, was := catalog.Program(os.Args[1:]); was {
		syscall.Exit(exit) // without the second that the race detector waits
	}
	os.Exit(withPowerShell(m))
}

// withPowerShell runs the tests where pwsh is found.
func withPowerShell(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pwsh")
	if err == nil {
		defer os.RemoveAll(dir)
		err = tooltest.PowerShell(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// all is the catalog as a machine without anything would build it, but for tools
// that call others or run programs.
func all() []tools.Tool { return catalog.Tools(categories()) }

// categories are those of all.
func categories() []tools.Category {
	caller := new(tooltest.Caller)
	s := &catalog.Services{Caller: caller, Restarts: true}
	if pwsh, err := exec.LookPath("pwsh"); err == nil { // it may lie where programs do not see it
		s.Sandbox().Configure(sandbox.Options{Read: []string{filepath.Dir(pwsh)}})
	}
	list := catalog.All(s)
	caller.All = catalog.Tools(list)
	return list
}

func TestValid(t *testing.T) {
	if err := tools.Validate(all()); err != nil {
		t.Error(err)
	}
	for _, tool := range all() {
		if tool.Limits.Text > tools.MaxText {
			t.Errorf("%s may return %d bytes; only the Read of a Source may return more than %d", tool.Name, tool.Limits.Text, tools.MaxText)
		}
	}
}

// TestCategories checks what a category says of itself.
func TestCategories(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range categories() {
		t.Run(c.ID, func(t *testing.T) {
			if c.ID == "" || c.Title == "" || seen[c.ID] || (c.Guide == "") != (len(c.Tools) == 0) {
				t.Errorf("id %q is taken, or the title %q or the guide %q is missing", c.ID, c.Title, c.Guide)
			}
			seen[c.ID] = true
			for _, tool := range c.Tools {
				if tool.Category != c.ID {
					t.Errorf("%s is of the category %s", tool.Name, tool.Category)
				}
			}
			if len(c.Tools) > 0 && strings.Contains(c.Guide, "\n") || strings.HasSuffix(c.Guide, ".") || len(c.Guide) > 450 {
				t.Errorf("the guide is no short line: %q", c.Guide)
			}
			if c.Settings != nil {
				c.Settings.Apply(c.Settings.New(), tools.Setup{})
			}
		})
	}
}

// TestClose holds the order of the end: while schedules or agents still run, no tool is closed
// that they call.
func TestClose(t *testing.T) {
	categories := catalog.All(new(catalog.Services))
	var order []string
	for i, c := range categories {
		categories[i].Close = func() error {
			order = append(order, c.ID)
			return nil
		}
	}
	if err := catalog.Close(categories); err != nil {
		t.Fatal(err)
	}
	if len(order) != len(categories) || !slices.Equal(order[:2], []string{"schedule", "agents"}) {
		t.Errorf("closed in the order %q, want schedule and agents first", order)
	}
}

// The contents of files are not in the audit log: each argument that holds them has the
// tag.
func TestDigested(t *testing.T) {
	got, want := tools.Digested(all()), []string{"body", "content", "new_text", "old_text", "patch", "value"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTools runs the suite that derives from each declaration.
func TestTools(t *testing.T) {
	t.Parallel() // beside TestCalls: both wait for programs
	for _, tool := range all() {
		if tool.Category == "web" {
			continue // its examples need hosts, which its own suite has
		}
		t.Run(tool.Name, func(t *testing.T) {
			if missing := tool.Missing(tools.Host{OS: runtime.GOOS, LookPath: exec.LookPath, Getenv: os.Getenv}); missing != "" {
				t.Skip("needs: " + missing)
			}
			tooltest.Run(t, tool)
		})
	}
}

// TestSnapshots pins what a client sees of each tool.
func TestSnapshots(t *testing.T) {
	const dir = "../../testdata/catalog"
	wanted := map[string]bool{}
	for _, tool := range all() {
		var b bytes.Buffer
		if err := catalog.Export(&b, "mcp", []tools.Tool{tool}); err != nil {
			t.Fatal(err)
		}
		var doc struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		var one bytes.Buffer
		if err := json.Indent(&one, doc.Tools[0], "", "  "); err != nil {
			t.Fatal(err)
		}
		one.WriteByte('\n')
		file := filepath.Join(dir, tool.Name+".json")
		wanted[file] = true
		golden(t, file, one.Bytes())
	}
	orphans(t, filepath.Join(dir, "*.json"), wanted)
}

// TestNarrow pins the settings of categories with tools that the file of a workspace can
// set. Such a file is not trusted, so its form alone has to make the setting stricter: a
// category may use the forms whose order of values is complete.
func TestNarrow(t *testing.T) {
	list := bytes.NewBufferString("Settings of categories that the file of a workspace can make stricter:\n")
	for _, c := range categories() {
		if c.Settings == nil || len(c.Tools) == 0 {
			continue
		}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(c.Settings.New()).Elem()) {
			narrow := f.Tag.Get("narrow")
			if narrow == "" {
				continue
			}
			fmt.Fprintf(list, "%s: %s %s\n", c.ID, cmp.Or(f.Tag.Get("file"), f.Tag.Get("flag")), narrow)
			if err := narrows(f.Tag); err != nil {
				t.Errorf("%s.%s: %v", c.ID, f.Name, err)
			}
		}
	}
	golden(t, "../../testdata/catalog/narrow.txt", list.Bytes())
}

// TestReadOnly pins the tools that read the web on a read-only server: they are chosen.
func TestReadOnly(t *testing.T) {
	list := bytes.NewBufferString("Tools that read the web on a read-only server:\n")
	for _, tool := range all() {
		if tool.MayRead() && tool.Access == tools.External {
			fmt.Fprintln(list, tool.Name)
		}
	}
	golden(t, "../../testdata/catalog/readonly.txt", list.Bytes())
}

// narrows returns an error if the form of a tag does not say for every value what is
// stricter.
func narrows(tag reflect.StructTag) error {
	form, order, _ := strings.Cut(tag.Get("narrow"), "=")
	switch form {
	case "true", "false", "least":
		return nil
	case "order":
		all, ordered := strings.Split(tag.Get("values"), ","), strings.Split(order, ",")
		slices.Sort(all)
		slices.Sort(ordered)
		if !slices.Equal(all, ordered) {
			return fmt.Errorf("narrow orders %q, values has %q", ordered, all)
		}
		return nil
	}
	return fmt.Errorf("a category cannot use the form %q; use true, false, least or order=A,B,C", form)
}

// The file of a workspace can only set what TestNarrow accepts.
func TestNarrows(t *testing.T) {
	for tag, ok := range map[reflect.StructTag]bool{
		`narrow:"true"`: true, `narrow:"false"`: true, `narrow:"least"`: true,
		`narrow:"order=a,b,c" values:"c,a,b"`: true, `narrow:"order=a,b" values:"c,a,b"`: false,
		`narrow:"union"`: false, `narrow:"each"`: false, `narrow:"append verdict=deny"`: false, `narrow:"catalog"`: false, `narrow:"yes"`: false,
	} {
		if err := narrows(tag); (err == nil) != ok {
			t.Errorf("%s: %v", tag, err)
		}
	}
}

// TestManual keeps the generated pages true.
func TestManual(t *testing.T) {
	if err := catalog.Docs("..", all(), *update); err != nil {
		t.Errorf("%v\nrun: go test ./tools/catalog -update", err)
	}
}

// TestReadme keeps the README's table of categories true.
func TestReadme(t *testing.T) {
	const file, begin, end = "../../README.md", "<!-- tools -->\n", "<!-- /tools -->\n"
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(old), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("README.md has no %q ... %q", begin, end)
	}
	golden(t, file, []byte(head+begin+catalog.Table(categories())+end+tail))
}

// TestBudget keeps the presets cheap whose definitions a model reads in every conversation.
func TestBudget(t *testing.T) {
	for _, preset := range []string{"default", "companion"} {
		t.Run(preset, func(t *testing.T) { testBudget(t, preset) })
	}
}

func testBudget(t *testing.T, preset string) {
	names, err := catalog.Preset(preset, all())
	if err != nil {
		t.Fatal(err)
	}
	sel, err := tools.Select(all(), tools.Selection{Preset: names, Host: everything})
	if err != nil {
		t.Fatal(err)
	}
	var b, compact bytes.Buffer
	if err := catalog.Export(&b, "mcp", sel.Listed); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&compact, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	if n := len(sel.Listed); n == 0 || n > 24 {
		t.Errorf("it lists %d tools, want 1 to 24", n)
	}
	if tokens := compact.Len() / 4; tokens > 8000 {
		t.Errorf("it takes %d tokens, want at most 8,000", tokens)
	}
}

// everything is a machine that offers all that a tool can need.
var everything = tools.Host{
	OS:       "linux",
	LookPath: func(file string) (string, error) { return "/usr/bin/" + file, nil },
	Getenv:   func(string) string { return "set" },
}

func golden(t *testing.T, file string, now []byte) {
	t.Helper()
	old, err := os.ReadFile(file)
	if err == nil && bytes.Equal(old, now) {
		return
	}
	if !*update {
		t.Errorf("%s is stale or missing; run: go test ./tools/catalog -update", file)
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, now, 0o644); err != nil {
		t.Fatal(err)
	}
}

func orphans(t *testing.T, pattern string, wanted map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if wanted[file] {
			continue
		}
		if !*update {
			t.Errorf("%s belongs to no tool; run: go test ./tools/catalog -update", file)
		} else if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}
