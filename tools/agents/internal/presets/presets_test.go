package presets_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/agents/internal/presets"
)

func TestParse(t *testing.T) {
	half := .5
	for name, test := range map[string]struct {
		text string
		want presets.Preset
		err  string
	}{
		"ours": {
			text: "---\nname: review\ndescription: reads\ntools: [grep, files]\nmodels: [main, spare]\nmax_rounds: 3\nmax_tokens: 5000\nmax_cost: 0.5\ntimeout: 2m\ntemperature: 0.5\nthinking: off\n---\n\nBe brief.\n---\nAnd clear.\n",
			want: presets.Preset{
				Name: "review", Description: "reads", System: "Be brief.\n---\nAnd clear.", Tools: []string{"grep", "files"}, Models: []string{"main", "spare"},
				MaxRounds: 3, MaxTokens: 5000, MaxCost: .5, Timeout: 2 * time.Minute, Temperature: &half, Thinking: "off",
			},
		},
		"as Claude Code has them": {
			text: "---\r\nname: code-reviewer\r\ndescription: Use it\r\ntools: Read, Bash(git diff:*, git log:*), mcp__github__get\r\ndisallowedTools: Write\r\nmodel: inherit\r\nmaxTurns: 9\r\ncolor: blue\r\nhooks: {}\r\npermissionMode: plan\r\n---\r\nYou review.",
			want: presets.Preset{
				Name: "code-reviewer", Description: "Use it", System: "You review.", Tools: []string{"Read", "Bash(git diff:*, git log:*)", "mcp__github__get"}, Without: []string{"Write"},
				MaxRounds: 9, Unknown: []string{"hooks", "permissionMode"},
			},
		},
		"a description that is not YAML": {
			text: "---\nname: x\ndescription: Use it when: always. Examples:\n  user: hi\nmodel: opus\n---\nDo.",
			want: presets.Preset{Name: "x", Description: "Use it when: always. Examples: user: hi", System: "Do.", Models: []string{"opus"}},
		},
		"no name, and an empty head":     {text: "---\n---\nDo.", want: presets.Preset{Name: "file", System: "Do."}},
		"no tools is not all":            {text: "---\ntools: []\n---\nDo.", want: presets.Preset{Name: "file", System: "Do.", Tools: []string{}}},
		"no front matter":                {text: "# Agent\n", err: "no front matter"},
		"no end":                         {text: "---\nname: x\n", err: "no end"},
		"no instructions":                {text: "---\nname: x\n---\n\n", err: "no instructions"},
		"a limit that is none":           {text: "---\nmax_rounds: many\n---\nDo.", err: "max_rounds: it is not a whole number from 1 to 100"},
		"a limit that is too high":       {text: "---\nmaxTurns: 101\n---\nDo.", err: "from 1 to 100"},
		"a time that is none":            {text: "---\ntimeout: soon\n---\nDo.", err: "timeout: it is not a time"},
		"tools that are none":            {text: "---\ntools: {a: b}\n---\nDo.", err: "tools: it is not a list of names"},
		"thinking that nobody knows":     {text: "---\neffort: max\n---\nDo.", err: "off, low, medium or high"},
		"a name with a line break in it": {text: "---\nname: \"a\\nb\"\n---\nDo.", err: "name: "},
		"too many instructions":          {text: "---\n---\n" + strings.Repeat("x", 20_001), err: "of at most 20000"},
	} {
		got, err := presets.Parse("file", []byte(test.text))
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: error %v, want %s", name, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("---\nname: x\ntools: [a]\n---\nDo."))
	f.Add([]byte("---\na: b: c\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := presets.Parse("x", data); err == nil && (p.Name == "" || p.System == "") {
			t.Errorf("%+v", p)
		}
	})
}
