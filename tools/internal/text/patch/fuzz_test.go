package patch_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"toolcrib/tools/internal/text/patch"
)

func dumpOf(text string) string { return dump(patch.Parse(text)) }

// FuzzParse checks the promises of every result for any text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		patch.Example, env("*** Add File: x", "+a", "", "+b"), env("*** Update File: x", "*** Move to: y", "@@ f", " a", "-b", "+c", "*** End of File"),
		"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ f\n a\n-b\n+c\n\\ No newline at end of file\n",
		"```diff\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n```\n", "apply_patch <<'EOF'\n" + patch.Example + "\nEOF\n", `{"patch":"*** Begin Patch\n"}`,
		"diff --git \"a/\\303\" b/y\nrename from \"\\303\"\nrename to y\n", "  *** Begin Patch\n *** End Patch\n", "--- a\n+++ b\n\n\n\\ x\n\t\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		files, notes, err := patch.Parse(text)
		if err != nil {
			if len(files)+len(notes) > 0 || !utf8.ValidString(text) {
				return
			}
			if msg := err.Error(); !utf8.ValidString(msg) || strings.Contains(msg, "\n") {
				t.Errorf("error %q", msg)
			}
			return
		}
		most := strings.Count(text, "\n") + strings.Count(text, `\n`) + strings.Count(text, `\u000a`) + strings.Count(text, `\u000A`) + 1
		for _, file := range files {
			if file.Path == "" || file.Line < 1 || file.Line > most {
				t.Errorf("path %q at line %d of %d", file.Path, file.Line, most)
			}
			changes := file.Kind != patch.Update || file.To != "" || file.Mode != 0
			if file.Kind == patch.Copy && file.To == "" {
				t.Error("a copy to nowhere")
			}
			if len(file.At) != len(file.Chunks) {
				t.Errorf("%d chunks begin at %v", len(file.Chunks), file.At)
			}
			for _, c := range file.Chunks {
				if len(c.Lines) == 0 || c.Line < 0 {
					t.Errorf("empty chunk at line %d", c.Line)
				}
				for _, l := range c.Lines {
					changes = changes || l.Op != ' '
					if strings.IndexByte(" -+", l.Op) < 0 || strings.Contains(l.Text, "\n") {
						t.Errorf("line %q", l)
					}
				}
			}
			if !changes {
				t.Errorf("%s of %q changes nothing", file.Kind, file.Path)
			}
		}
	})
}
