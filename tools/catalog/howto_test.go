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

// TestHowToAddATool does what the package comment of tools tells a newcomer to
// do, in an overlay of the source, and runs the suite on the new tool; the others have
// their own run.
func TestHowToAddATool(t *testing.T) {
	if testing.Short() {
		t.Skip("needs: time to compile the catalog once more")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs: the go command")
	}
	f, err := parser.ParseFile(token.NewFileSet(), "../doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(f.Doc.Text(), "# How to add a tool")
	if !ok {
		t.Fatal("tools/doc.go has no how-to")
	}
	blocks := codeBlocks(text)
	if len(blocks) != 4 {
		t.Fatalf("the how-to has %d code blocks, want document, declaration, line, commands", len(blocks))
	}
	list, err := os.ReadFile("../search/search.go")
	if err != nil {
		t.Fatal(err)
	}
	const anchor = "grepTool(d),\n"
	if strings.Count(string(list), anchor) != 1 {
		t.Fatalf("tools/search/search.go lists %q otherwise than this test expects", anchor)
	}
	listed := strings.Replace(string(list), anchor, anchor+"\t\t"+blocks[2]+"\n", 1)

	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, content := range map[string]string{"line_count.md": blocks[0], "line_count.go": blocks[1], "search.go": listed} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		target, err := filepath.Abs(filepath.Join("../search", name))
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
	cmd := exec.CommandContext(t.Context(), goTool, "test", "-overlay", overlayFile, "-run", "^(TestTools|TestValid|TestBudget)$/^line_count$", "-v", ".")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestTools/line_count/escapes") {
		t.Errorf("the suite did not run on the new tool:\n%s", out)
	}
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
