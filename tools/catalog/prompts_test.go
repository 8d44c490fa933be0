package catalog_test

import (
	"strings"
	"testing"

	"toolcrib/tools/catalog"
)

// Prompts say what was given, as calls have it, and make sense without it.
func TestPromptWords(t *testing.T) {
	type given = map[string]string
	wants := map[string][]struct {
		given given
		want  []string
	}{
		"review_change": {
			{nil, []string{"Review the latest change.\n", `"path":"."`}},
			{given{"path": `a"<b>`, "focus": "speed"}, []string{`Review the latest change to "a\"<b>". Look above all at this: speed` + "\n", `"path":"a\"<b>"`}},
		},
		"explain_tree": {
			{nil, []string{"how this project is laid out", `{"path":".","depth":2}`}},
			{given{"path": "src"}, []string{`how the directory "src" is laid out`, `{"path":"src","depth":2}`}},
		},
		"find_where": {
			{given{"what": "{{path}} is read"}, []string{"Find where this is done: {{path}} is read\n", `"path":"."`}},
			{given{"what": "keys expire", "path": "src"}, []string{`Find where this is done below "src": keys expire`, `"path":"src"`}},
		},
	}
	for _, p := range catalog.Prompts(nil) {
		for _, c := range wants[p.Name] {
			blocks, err := p.Render(t.Context(), c.given)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(blocks[0].Text, want) {
					t.Errorf("%s %v: no %q in it:\n%s", p.Name, c.given, want, blocks[0].Text)
				}
			}
		}
		if len(wants[p.Name]) == 0 {
			t.Errorf("%s is not tried", p.Name)
		}
		delete(wants, p.Name)
	}
	if len(wants) > 0 {
		t.Errorf("there are no prompts %v", wants)
	}
}
