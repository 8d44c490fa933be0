package settings_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/config/settings"
)

type rule struct {
	Verdict string   `json:"verdict" jsonschema:"enum=allow,enum=ask,enum=deny" jsonschema_description:"what happens"`
	Tool    []string `json:"tool,omitempty" jsonschema:"minItems=1" jsonschema_description:"names"`
	Root    string   `json:"root,omitempty" expand:"-" jsonschema_description:"a template"`
}

type limits struct {
	Timeout time.Duration `json:"timeout,omitempty" narrow:"least" jsonschema_description:"a time"`
	Text    int           `json:"text,omitempty" narrow:"least" jsonschema:"minimum=10,maximum=100" jsonschema_description:"a number"`
	Share   float64       `json:"share,omitempty" jsonschema_description:"a number"`
	Key     string        `json:"key,omitempty" secret:"yes" jsonschema_description:"a secret"`
}

// example has a field of each kind that files can set.
type example struct {
	Names   []string          `flag:"some-names" env:"TOOLCRIB_SOME_NAMES" arg:"NAMES" help:"names" narrow:"union"`
	Only    bool              `flag:"only" env:"TOOLCRIB_ONLY" help:"only" narrow:"true"`
	Open    bool              `flag:"open" env:"TOOLCRIB_OPEN" help:"open" narrow:"false"`
	How     string            `flag:"how" env:"TOOLCRIB_HOW" values:"client,ask,deny" help:"how" default:"ask" narrow:"order=client,ask,deny"`
	Size    string            `flag:"size" env:"TOOLCRIB_SIZE" arg:"MB" help:"size"`
	Token   string            `env:"TOOLCRIB_TOKEN" arg:"TOKEN" help:"token"`
	Rules   []rule            `file:"rules" help:"rules" narrow:"append verdict=deny"`
	Tool    map[string]limits `file:"tool" help:"tools" narrow:"each"`
	Most    int               `file:"most" help:"bound" narrow:"least"`
	Private string            `flag:"private" env:"TOOLCRIB_PRIVATE" file:"-" help:"no file sets it"`
}

func decode(text string) (example, *settings.Document, error) {
	var got example
	doc, err := settings.Decode([]byte(text), &got, settings.Options{
		Name: "f.yaml",
		Getenv: func(name string) (string, bool) {
			value, ok := map[string]string{"ONE": "1", "YES": "true", "HUGE": "99999999999999999999", "EMPTY": "", "EVIL": "x\nonly: true # ${ONE}"}[name]
			return value, ok
		},
		ReadSecret: func(path string) (string, error) {
			if path != "key.txt" {
				return "", fmt.Errorf("%s is not there", path)
			}
			return "hush", nil
		},
	})
	return got, doc, err
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       example
	}{
		{"empty", "", example{}},
		{"only a comment", "# nothing\n", example{}},
		{"lists and bools", "some_names: [a, b]\nonly: true\n", example{Names: []string{"a", "b"}, Only: true}},
		{"a flag's text may look like a number", "size: 160", example{Size: "160"}},
		{"a choice", "how: deny", example{How: "deny"}},
		{"nested", "rules:\n- {verdict: deny, tool: [x]}\ntool: {grep: {timeout: 1m30s, text: 20, share: 0.5}}",
			example{Rules: []rule{{Verdict: "deny", Tool: []string{"x"}}}, Tool: map[string]limits{"grep": {Timeout: 90 * time.Second, Text: 20, Share: 0.5}}}},
		{"variables", "size: a${ONE}b${NONE:-c}${EMPTY:-d}$$e$", example{Size: "a1bcd$e$"}},
		{"variables in every kind", "only: ${YES}\nmost: ${ONE}\nsome_names: ['${ONE}']\ntool: {x: {timeout: '${ONE}s'}}",
			example{Only: true, Most: 1, Names: []string{"1"}, Tool: map[string]limits{"x": {Timeout: time.Second}}}},
		{"what a variable brings is text", "size: ${EVIL}", example{Size: "x\nonly: true # ${ONE}"}},
		{"a template is left alone", "rules: [{verdict: ask, root: '/srv/${sub}'}]", example{Rules: []rule{{Verdict: "ask", Root: "/srv/${sub}"}}}},
		{"a secret", "token: abc", example{Token: "abc"}},
		{"secrets of files", "token: {file: key.txt}\ntool: {x: {key: {file: key.txt}}}", example{Token: "hush", Tool: map[string]limits{"x": {Key: "hush"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := decode(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"unknown key", "oly: true", `f.yaml:1:1: oly: there is no such key; did you mean only`},
		{"a flag in the place of a key", "some-names: [a]", "did you mean some_names"},
		{"a key that only flags set", "private: x", "there is no such key"},
		{"unknown key below", "rules: [{verdict: deny, tools: []}]", "f.yaml:1:25: rules[1].tools: there is no such key; did you mean tool"},
		{"twice", "only: true\nhow: ask\nonly: false", "f.yaml:3:1: only: the key is there twice, first in line 1"},
		{"missing", "rules:\n- tool: [x]", "f.yaml:2:3: rules[1]: the key verdict is missing"},
		{"no value", "how:", "there is no value; leave the key out"},
		{"wrong bool", "only: yes", `f.yaml:1:7: only: "yes" must be true or false`},
		{"quoted bool", "only: 'true'", "must be true or false"},
		{"wrong list", "some_names: a,b", "this must be a list"},
		{"empty list", "some_names: []", "names nothing"},
		{"empty list below", "rules: [{verdict: deny, tool: []}]", "f.yaml:1:31: rules[1].tool: the list names nothing"},
		{"empty name", "some_names: ['']", "some_names[1]: the name is empty"},
		{"empty by a variable", "some_names: ['${EMPTY}']", "the name is empty"},
		{"empty text", "size: ''", "it is empty"},
		{"wrong choice", "how: dney", `"dney" is not a value; did you mean "deny"`},
		{"wrong choice below", "rules: [{verdict: no}]", "there are: allow, ask, deny"},
		{"no time", "tool: {x: {timeout: 30}}", `"30" must be a time such as 30s`},
		{"negative time", "tool: {x: {timeout: -1s}}", "must be a time"},
		{"too small", "tool: {x: {text: 9}}", "tool.x.text: 9 is less than 10"},
		{"too large", "tool: {x: {text: 101}}", "101 is more than 100"},
		{"too large for any", "most: ${HUGE}", "out of range"},
		{"not whole", "most: 1.5", `"1.5" must be a whole number`},
		{"not finite", "tool: {x: {share: .nan}}", "must be a number"},
		{"a list for a text", "how: [deny]", "this must be"},
		{"anchor", "some_names: &a [x]", "the anchor &a"},
		{"alias", "some_names: &a [x]\nhow: *a", "f.yaml:2:6: how: the alias *a"},
		{"merge", "tool: {x: {<<: {text: 20}}}", "a merge (<<)"},
		{"tag", "how: !!str deny", "the tag !!str"},
		{"two documents", "only: true\n---\nonly: false", "f.yaml:2"},
		{"no mapping", "- a", "there must be keys"},
		{"complex key", "? [a]\n: b", "a key must be a plain word"},
		{"not YAML", "a: [1", "f.yaml:"},
		{"not text", "a: \x00", "this is not YAML"},
		{"deep", "tool: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "more than 32 levels"},
		{"unset variable", "only: true\nsize: ${NOPE}", "f.yaml:2:7: size: the variable NOPE is not set"},
		{"a variable in a key", "${ONE}: 1", "there is no such key"},
		{"a variable without braces", "size: $ONE", "write ${NAME} for a variable"},
		{"an open brace", "size: ${ONE", "without }"},
		{"no name", "size: ${1A}", "is not the name of a variable"},
		{"nested", "size: ${NOPE:-${ONE}}", "a default is plain text"},
		{"secret file", "token: {file: other}", "token: other is not there"},
		{"secret file misspelt", "token: {fil: x}", "did you mean file"},
		{"a file for no secret", "how: {file: key.txt}", "this must be a text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := decode(tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// All that is wrong is told at once, in the order of the lines.
func TestDecodeTellsAll(t *testing.T) {
	_, _, err := decode("oly: 1\nhow: no\nrules:\n- {verdict: x}\n- {tool: 1}\nmost: ${NOPE}\n")
	problems, _ := errors.AsType[settings.Problems](err)
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%d %s", p.Line, p.Key))
	}
	want := []string{"1 oly", "2 how", "4 rules[1].verdict", "5 rules[2]", "5 rules[2].tool", "6 most"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A file that came with a workspace refers to nothing.
func TestDecodeUntrusted(t *testing.T) {
	for _, text := range []string{"size: ${ONE}", "size: ${ONE:-1}", "token: {file: key.txt}"} {
		if _, err := settings.Decode([]byte(text), new(example), settings.Options{Name: "w"}); err == nil || !strings.Contains(err.Error(), "it comes with the workspace") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// No error shows a secret, however wrong it is.
func TestErrorsShowNoSecret(t *testing.T) {
	for _, text := range []string{"token: [hunter2]", "token: {hunter2: 1}", "tool: {x: {key: 5551234}}", "token: !!binary hunter2", "token: hunter2\ntoken: hunter2"} {
		if _, _, err := decode(text); err == nil || strings.Contains(strings.ReplaceAll(err.Error(), "token.hunter2", ""), "hunter2") || strings.Contains(err.Error(), "5551234") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"only: true", "rules: [{verdict: deny}]", "tool: {x: {timeout: 1s}}", "a: &a [*a]", "size: ${ONE:-}", "? {a: b}\n: c", "token: {file: x}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, doc, err := decode(string(data))
		for _, field := range settings.Fields(&got) {
			field.Show(doc)
		}
		if err == nil {
			_, _ = doc.Narrow(new(example), &got)
		}
	})
}
