package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/config/settings"
)

func TestNarrow(t *testing.T) {
	base := func() example {
		return example{
			Names: []string{"a"}, Open: true, How: "ask", Most: 10, Rules: []rule{{Verdict: "allow"}},
			Tool: map[string]limits{"grep": {Timeout: time.Minute, Text: 50}},
		}
	}
	for _, tt := range []struct {
		name, file string
		change     func(*example) // of the base; nil: none
		want       func(*example) // what the file changes
		refused    string         // or the error
		kept       string         // or the line that says why not
	}{
		{name: "true", file: "only: true", want: func(e *example) { e.Only = true }},
		{name: "true, widened", file: "only: false", refused: "f.yaml:1:1: only: false would widen"},
		{name: "false", file: "open: false", want: func(e *example) { e.Open = false }},
		{name: "false, widened", file: "open: true", refused: "open: true would widen"},
		{name: "union", file: "some_names: [b]", want: func(e *example) { e.Names = []string{"a", "b"} }},
		{name: "order", file: "how: deny", want: func(e *example) { e.How = "deny" }},
		{name: "order, widened", file: "how: client", refused: `how: "client" would widen`},
		{name: "order, the stricter stays", file: "how: ask", change: func(e *example) { e.How = "deny" }, kept: "f.yaml:1: how has no effect, since it would widen deny"},
		{name: "order, the default", file: "how: deny", change: func(e *example) { e.How = "" }, want: func(e *example) { e.How = "deny" }},
		{name: "order, from the loosest", file: "how: ask", change: func(e *example) { e.How = "client" }, want: func(e *example) { e.How = "ask" }},
		{name: "least", file: "most: 5", want: func(e *example) { e.Most = 5 }},
		{name: "least, widened", file: "most: 11", kept: "most has no effect"},
		{name: "least, without a bound", file: "most: 5", change: func(e *example) { e.Most = 0 }, want: func(e *example) { e.Most = 5 }},
		{name: "least, no bound", file: "most: 0", refused: "0 means no bound"},
		{name: "append", file: "rules: [{verdict: deny}]", want: func(e *example) { e.Rules = append(e.Rules, rule{Verdict: "deny"}) }},
		{name: "append, widened", file: "rules: [{verdict: deny}, {verdict: allow}]", refused: `rules[2].verdict: "allow" could widen`},
		{name: "each", file: "tool: {grep: {timeout: 1s, text: 60}, glob: {text: 20}}", want: func(e *example) {
			e.Tool = map[string]limits{"grep": {Timeout: time.Second, Text: 50}, "glob": {Text: 20}}
		}, kept: "tool.grep.text has no effect, since it would widen 50"},
		{name: "each, cannot narrow", file: "tool: {grep: {share: 0.1}}", refused: "tool.grep.share: the file of a workspace can only narrow"},
		{name: "cannot narrow", file: "size: 1", refused: "size: the file of a workspace can only narrow, and this cannot: put it into your own configuration file, or use --size, or use TOOLCRIB_SIZE"},
		{name: "a secret", file: "token: x", refused: "token: the file of a workspace can only narrow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, want := base(), base()
			if tt.change != nil {
				tt.change(&got)
				tt.change(&want)
			}
			if tt.want != nil {
				tt.want(&want)
			}
			var by example
			doc, err := settings.Decode([]byte(tt.file), &by, settings.Options{Name: "f.yaml"})
			if err != nil {
				t.Fatal(err)
			}
			before := base()
			done, err := doc.Narrow(&got, &by)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Fatalf("error %v, want %q", err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if kept := strings.Join(done.Kept, "\n"); !strings.Contains(kept, tt.kept) || (tt.kept == "") != (kept == "") {
				t.Errorf("kept %q, want %q", kept, tt.kept)
			}
			if (len(done.Changed) > 0) != (tt.want != nil) {
				t.Errorf("changed %q", done.Changed)
			}
			if diff := cmp.Diff(base(), before); diff != "" {
				t.Errorf("what was narrowed is shared:\n%s", diff)
			}
		})
	}
}

func TestShow(t *testing.T) {
	got, doc, err := decode("token: {file: key.txt}\nsize: ${ONE}\nsome_names: [a, 'b, c']\nrules: [{verdict: deny, tool: [x]}]\ntool: {x: {key: '${ONE}', timeout: 5s}}\nonly: true")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, f := range settings.Fields(&got) {
		shown[f.Key] = f.Show(doc)
	}
	want := map[string]string{
		"some_names": `[a, "b, c"]`, "only": "true", "open": "false", "how": "ask", "size": `"${ONE}"`, "token": "***",
		"rules": "[{verdict: deny, tool: [x]}]", "tool": "{x: {timeout: 5s, key: ***}}", "most": "0",
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
