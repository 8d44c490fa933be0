package catalog_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHowTo does what the package comment of tools tells a newcomer to do, in an overlay of
// the source: it adds a tool, and a category with another. It runs the suite on the new ones;
// the others have their own run.
func TestHowTo(t *testing.T) {
	text, _, _ := strings.Cut(howTo(t, "# How to add a tool"), "# How to add a category")
	tool, category := codeBlocks(text), codeBlocks(howTo(t, "# How to add a category"))
	if len(tool) != 4 || len(category) != 5 {
		t.Fatalf("the how-tos have %d and %d code blocks; want document, declaration, line, commands; comment, constructor, document, tool, line", len(tool), len(category))
	}
	const (
		first          = "return []tools.Tool{\n"
		last, imported = "shell.Category(s),\n", "\t\"toolcrib/tools/shell\"\n"
	)
	list := inserted(t, "catalog.go", last, last+"\t\t"+category[4])
	out := withOverlay(t, "^(TestTools|TestValid|TestBudget|TestCategories|TestImports)$/^(line_count|wrap_text|wording|)$", map[string]string{
		"../search/line_count.md": tool[0], "../search/line_count.go": tool[1],
		"../search/search.go": inserted(t, "../search/search.go", first, first+"\t\t"+tool[2]+"\n"),
		"../wording/doc.go":   category[0], "../wording/wording.go": category[1],
		"../wording/wrap_text.md": category[2], "../wording/wrap_text.go": category[3],
		"catalog.go": strings.Replace(list, imported, imported+"\t\"toolcrib/tools/wording\"\n", 1),
	})
	for _, want := range []string{"--- PASS: TestTools/line_count/escapes", "--- PASS: TestTools/wrap_text/example/", "--- PASS: TestCategories/wording"} {
		if !strings.Contains(out, want) {
			t.Errorf("the suite did not run on what is new, no %q:\n%s", want, out)
		}
	}
}

// howTo returns the text below a heading of the package comment of tools.
func howTo(t *testing.T, heading string) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(f.Doc.Text(), heading)
	if !ok {
		t.Fatalf("tools/doc.go has no %q", heading)
	}
	return text
}

// inserted returns a file with a line in the place of the one that it has.
func inserted(t *testing.T, file, old, text string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(data), old) != 1 {
		t.Fatalf("%s lists %q otherwise than this test expects", file, old)
	}
	return strings.Replace(string(data), old, text, 1)
}

// withOverlay runs tests of this package with other contents of files, and returns what
// they print.
func withOverlay(t *testing.T, run string, files map[string]string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs: time to compile the catalog once more")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs: the go command")
	}
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, content := range files {
		file := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		target, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		overlay.Replace[target] = file
	}
	spec, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, spec, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), goTool, "test", "-vet=off", "-overlay", overlayFile, "-run", run, "-v", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the program is built, so that packages are compiled once
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// codeBlocks returns the indented blocks of a doc comment, without the indent.
func codeBlocks(text string) []string {
	var blocks []string
	var block []string
	flush := func() {
		if code := strings.TrimSpace(strings.Join(block, "\n")); code != "" {
			blocks = append(blocks, code+"\n")
		}
		block = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if code, ok := strings.CutPrefix(line, "\t"); ok || (line == "" && block != nil) {
			block = append(block, code)
			continue
		}
		flush()
	}
	flush()
	return blocks
}
