package change_test

import (
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
)

// Lines that stand in place of text, alone between lines of code.
var lazy = []struct{ name, line string }{
	{"a.go", "// ... rest of code unchanged"},
	{"a.go", "// ... rest of the code remains the same ..."},
	{"a.go", "\t// ... existing code ..."},
	{"a.go", "\t// existing code..."},
	{"a.go", "// rest of the code remains unchanged"},
	{"a.go", "// Rest of file unchanged."},
	{"a.go", "// The rest of the implementation stays the same"},
	{"a.go", "// ... (rest of the methods unchanged)"},
	{"a.go", "// ... other methods ..."},
	{"a.go", "// … existing code …"},
	{"a.go", "// ...existing code..."},
	{"a.go", "// ... unchanged ..."},
	{"a.go", "// ... same as before ..."},
	{"a.go", "// [... rest of the file ...]"},
	{"a.go", "// existing code here"},
	{"a.go", "// other methods remain unchanged"},
	{"a.go", "// ... remaining functions remain the same"},
	{"a.go", "// implementation omitted for brevity"},
	{"a.go", "// Keep the rest of the code"},
	{"a.go", "// ... keep existing imports ..."},
	{"a.go", "func main() { /* ... existing code ... */ }"},
	{"a.go", "\tfoo() // ... rest of the function"},
	{"a.js", "  /* ... existing styles ... */"},
	{"a.jsx", "{/* ... rest of the component ... */}"},
	{"a.jsx", "{/* unchanged */}"},
	{"a.py", "# existing code ..."},
	{"a.py", "    # ... rest of the class remains unchanged ..."},
	{"a.py", "# Rest of the code remains the same"},
	{"a.py", "# ... previous implementation"},
	{"a.sql", "-- ... rest of the query unchanged"},
	{"a.lua", "--[[ ... existing code ... ]]"},
	{"a.lisp", ";; ... rest of the file"},
	{"a.tex", "... rest of the document ..."},
	{"a.html", "<!-- unchanged -->"},
	{"a.html", "<!-- ... rest of the page ... -->"},
	{"a.html", "<!-- Rest of the document remains the same -->"},
	{"a.yaml", "# ... rest of the configuration unchanged"},
	{"a.css", "/* rest of the styles remain unchanged */"},
	{"a.java", " * ... rest of the class ..."},
	{"a.md", "[... rest of the document unchanged ...]"},
	{"a.md", "<!-- rest of the content unchanged -->"},
	{"a.rs", "... existing code ..."},
	{"a.rs", "[rest of the file unchanged]"},
	{"a.hs", "{- ... other definitions ... -}"},
	{"a.jinja", "{# ... rest of the template ... #}"},
	{"a.vue", "<!-- ... other components ... -->"},
	{"a.go", "// 其余代码不变"},
	{"a.py", "# ... 其他方法保持不变 ..."},
	{"a.go", "// 残りのコードは変更なし"},
	{"a.go", "// resto del código sin cambios"},
	{"a.go", "// reste du code inchangé"},
	{"a.go", "// Rest des Codes bleibt unverändert"},
	{"a.go", "// остальной код без изменений"},
}

// Lines that people write and mean, alone between lines of code.
var meant = []struct{ name, line string }{
	{"a.go", "// The rest of the code must pass the tests."},
	{"a.go", "// the rest of the code"},
	{"a.go", "// ..."},
	{"a.py", "..."},
	{"a.py", "    ..."},
	{"a.py", "# ..."},
	{"a.go", "// unchanged"},
	{"a.go", "/* unchanged */"},
	{"a.go", "// Keep the existing code path for old clients"},
	{"a.go", "// existing files are left alone"},
	{"a.go", "// handle the remaining cases..."},
	{"a.go", "// read the rest of the file"},
	{"a.go", "// Skip the rest of the line"},
	{"a.go", "// the rest of the file is not read"},
	{"a.go", "// Remove existing entries..."},
	{"a.go", "// loading existing files..."},
	{"a.go", "// Other tests"},
	{"a.go", "// other helpers below"},
	{"a.go", "// TODO: add other routes here"},
	{"a.go", "// Your code here"},
	{"a.go", "// your code goes here..."},
	{"a.go", "// f(a, b, ...)"},
	{"a.go", "func f(xs ...int) { g(xs...) }"},
	{"a.go", "\tfmt.Println(\"// ... existing code ...\")"},
	{"a.go", "\twant := `// ... rest of the code`"},
	{"a.go", "// The existing file is unchanged."},
	{"a.go", "// the value is the same as before"},
	{"a.go", "// same as before, but sorted"},
	{"a.go", "// error handling omitted for brevity"},
	{"a.go", "// see the previous section"},
	{"a.js", "const next = { ...rest, existing: true }"},
	{"a.js", "const { a, ...rest } = props // the rest"},
	{"a.md", "# Existing code"},
	{"a.md", "## Unchanged"},
	{"a.md", "* other methods remain unchanged"},
	{"a.md", "The rest of the code is unchanged."},
	{"a.md", "... and the rest of the file is read later ..."},
	{"a.txt", "[...]"},
	{"a.txt", "(the rest of the document is in German)"},
	{"a.txt", "# rest of the code remains unchanged"},
	{"a.py", "# Existing rows are unchanged"},
	{"a.py", "# the rest of the configuration lives in config.toml"},
	{"a.py", "# Update the remaining code when the API changes"},
	{"a.py", "# current config..."},
	{"a.sql", "-- existing rows stay"},
	{"a.sql", "-- rest of the columns come from the view"},
	{"a.yaml", "# unchanged since 2019"},
	{"a.yaml", "key: '... existing code ...'"},
	{"a.html", "<!-- main content -->"},
	{"a.html", "<!-- rest of the page -->"},
	{"a.html", "<p>The rest of the page remains the same.</p>"},
	{"a.css", "/* existing browsers need this */"},
	{"a.sh", "echo \"... existing code ...\""},
	{"a.sh", "# Wait for existing connections to drain..."},
	{"a.c", "#include \"rest.h\" /* ... */"},
	{"a.go", "return x // unchanged"},
}

func TestPlaceholders(t *testing.T) {
	found := func(name, text string) (numbers []int) {
		for number := range change.Placeholders(name, text) {
			numbers = append(numbers, number)
		}
		return numbers
	}
	for _, c := range lazy {
		if got := found(c.name, "before()\n"+c.line+"\nafter()\n"); len(got) != 1 || got[0] != 2 {
			t.Errorf("%s: %q passes: %v", c.name, c.line, got)
		}
	}
	for _, c := range meant {
		if got := found(c.name, "before()\n"+c.line+"\nafter()\n"); got != nil {
			t.Errorf("%s: %q is taken for a placeholder", c.name, c.line)
		}
	}
	if len(lazy) < 40 || len(meant) < 40 {
		t.Error("the tables are short")
	}
}

func TestPlaceholdersInContext(t *testing.T) {
	for _, c := range []struct {
		what, name, text string
		want             int
	}{
		{"a part of a longer comment", "a.go", "// This runs before\n// the rest of the code is unchanged\n// by the linker.\n", 0},
		{"the end of a longer comment", "a.go", "// What we write,\n// other methods remain unchanged\nx()\n", 0},
		{"a fenced block of prose", "a.md", "text\n```html\n<!-- ... rest of the page ... -->\n```\nmore\n", 0},
		{"a block comment", "a.java", "/**\n * other methods remain unchanged\n */\n", 0},
		{"after a fenced block", "a.md", "```\n```\n<!-- rest of the document unchanged -->\n", 1},
		{"CRLF", "a.go", "x()\r\n// ... existing code ...\r\ny()\r\n", 1},
		{"the last line without an end", "a.go", "x()\n// ... existing code ...", 1},
		{"the only line", "a.go", "// ... existing code ...", 1},
		{"two", "a.go", "// ... existing code ...\nx()\n// ... rest of the file\n", 2},
		{"nothing", "a.go", "", 0},
	} {
		n := 0
		for range change.Placeholders(c.name, c.text) {
			n++
		}
		if n != c.want {
			t.Errorf("%s: %d, want %d", c.what, n, c.want)
		}
	}
}

func TestRefusePlaceholder(t *testing.T) {
	old := "a()\n\t// ... existing code ...\nb()\n"
	asked := false
	from := func() string { asked = true; return old }
	if err := change.RefusePlaceholder("a.go", "a()\n// ... existing code ...\n", from); err != nil {
		t.Errorf("a line of the old text: %v", err)
	}
	err := change.RefusePlaceholder("a.go", "a()\n// ... rest of the code\n", from)
	if e := tools.AsError(err); e == nil || e.Code != tools.InvalidArgument || !strings.Contains(e.Msg, "a.go: line 2 ") {
		t.Errorf("a new placeholder: %v", err)
	}
	asked = false
	if err := change.RefusePlaceholder("a.go", "a()\n", from); err != nil || asked {
		t.Errorf("a text without: %v, asked for the old text: %v", err, asked)
	}
}
