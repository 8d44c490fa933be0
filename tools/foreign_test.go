package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolcrib/schema"
	"toolcrib/tools"
)

func wordTool(name string, foreign ...tools.Foreign) tools.Tool {
	def := wordDef()
	def.Name, def.Foreign = name, foreign
	return tools.New(def)
}

func by(name, argument string, values ...string) tools.Foreign {
	return tools.Foreign{Name: name, By: argument, Values: values}
}

// several means the tool "one" if an argument is a list of several.
func several(argument string) tools.Foreign {
	return tools.Foreign{Name: "one", By: argument, Several: true, Spellings: []schema.Spelling{{
		Names: []string{argument}, Read: func(map[string]any) (map[string]any, error) { return map[string]any{"word": "all"}, nil },
	}}}
}

// TestForeign checks which tool a call by a foreign name means, and by which arguments.
func TestForeign(t *testing.T) {
	say := by("say", "how", "once")
	say.Implied = map[string]any{"times": 1}
	all := []tools.Tool{
		wordTool("one", say, tools.Foreign{Name: "echo", Spellings: []schema.Spelling{schema.Dropped("", "quiet")}}),
		wordTool("two", by("say", "how", "", "twice", "two_times")),
		wordTool("many", several("words"), several("texts")),
	}
	if err := tools.Validate(all); err != nil {
		t.Fatal(err)
	}
	names, err := tools.NameTools(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, args, tool, want string }{ // an error if tool is ""
		{"one", `{"word":"a"}`, "one", `{"times":2,"word":"a"}`},
		{"say", `{"word":"a","how":"once"}`, "one", `{"times":1,"word":"a"}`},
		{"say", `{"word":"a","how":"once","times":5}`, "one", `{"times":5,"word":"a"}`},
		{"say", `{"word":"a"}`, "two", `{"times":2,"word":"a"}`},
		{"say", `{"word":"a","how":"Two-Times"}`, "two", `{"times":2,"word":"a"}`},
		{"say", `{"word":"a","how":"often"}`, "", `/how: say needs one of once, twice, two_times (or call one, two)`},
		{"echo", `{"word":"a","quiet":true}`, "one", `{"times":2,"word":"a"}`},
		{"one", `{"words":["a","b"]}`, "many", `{"times":2,"word":"all"}`},
		{"one", `{"texts":["a","b"]}`, "many", `{"times":2,"word":"all"}`},
		{"one", `{"words":["a"]}`, "one", `unknown argument`},
		{"one", `{"word":"a","quiet":true}`, "one", `unknown argument`},
		{"onne", `{"word":"a"}`, "", `no tool is called "onne" (did you mean one)`},
		{"ssay", `{}`, "", `no tool is called "ssay"`}, // only a tool's own name is suggested
		{" mcp__toolcrib__one ", `{"word":"a"}`, "one", `{"times":2,"word":"a"}`},
		{"functions.echo", `{"word":"a"}`, "one", `{"times":2,"word":"a"}`},
		{"functions.x", `{}`, "", `no tool is called "functions.x"`},
	} {
		tool, err := names.Find(c.name, json.RawMessage(c.args))
		if tool.Name != c.tool {
			t.Errorf("%s %s: it is %q, want %q", c.name, c.args, tool.Name, c.tool)
			continue
		}
		got := ""
		if err == nil {
			var bound tools.Bound
			bound, err = tool.Bind(json.RawMessage(c.args))
			got = string(bound.Canonical)
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s %s: %s, want %s", c.name, c.args, got, c.want)
		}
	}
	if without, err := tools.NameTools(all[1:]); err != nil || without.Has("one") {
		t.Errorf("the name of a tool that is not there: %v", err)
	}
	for _, name := range []string{"echo", "many", "one", "say", "two", "functions.two"} {
		if !names.Has(name) {
			t.Errorf("%s cannot be called", name)
		}
	}
}

// TestForeignAmbiguous checks that a name by which a call could mean two tools is refused.
func TestForeignAmbiguous(t *testing.T) {
	for want, foreign := range map[string][2][]tools.Foreign{
		`name "one" is taken by "one"`:                         {nil, {{Name: "one"}}},
		`name "say" is taken by "one"`:                         {{{Name: "say"}}, {{Name: "say"}}},
		`name "say" with how "A-B" is taken by "one"`:          {{by("say", "how", "a_b")}, {by("say", "how", "A-B")}},
		`name "say" chooses by what, and for "one" by how`:     {{by("say", "how", "a")}, {by("say", "what", "b")}},
		`name "word" chooses by what, and for "one" by how`:    {{{Name: "word", By: "how", Several: true}}, {{Name: "word", By: "what", Several: true}}},
		`name "word" with several how is taken by "one"`:       {{{Name: "word", By: "how", Several: true}}, {{Name: "word", By: "how", Several: true}}},
		`name "say it" does not match`:                         {{{Name: "say it"}}, nil},
		`name "say" has values, but no argument to choose by`:  {{{Name: "say", Values: []string{"a"}}}, nil},
		`name "say" chooses by how, which needs values`:        {{{Name: "say", By: "how"}}, nil},
		`arguments of say: spelling "term" is another name of`: {{{Name: "say", Spellings: []schema.Spelling{schema.Dropped("", "term")}}}, nil},
	} {
		var got string
		err := tools.Recover(func() error {
			return tools.Validate([]tools.Tool{wordTool("one", foreign[0]...), wordTool("two", foreign[1]...), wordTool("word")})
		})
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestForeignOff checks that each name of a tool that is off says that this tool is off.
func TestForeignOff(t *testing.T) {
	off := func(name string, foreign ...tools.Foreign) tools.Omission {
		return tools.Omission{Tool: wordTool(name, foreign...), Reason: "excluded"}
	}
	names, err := tools.NameTools([]tools.Tool{wordTool("on", by("job", "do", "list"))},
		off("put", tools.Foreign{Name: "Write"}, by("job", "do", "start")), off("stop", by("kill", "how", "soft")))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, args, want string }{
		{"put", `{}`, "unavailable: put is off: excluded"},
		{"PUT", `{}`, "unavailable: put is off: excluded"},
		{"Write", `{}`, "unavailable: put is off: excluded"},
		{"wRITE", `{}`, "unavailable: put is off: excluded"},
		{"job", `{"do":"start"}`, "unavailable: put is off: excluded"},
		{"job", `{"do":"list"}`, ""},
		{"job", `{"do":"x"}`, "invalid_argument: /do: job needs one of list (or call on)"},
		{"kill", `{"how":"soft"}`, "unavailable: stop is off: excluded"},
		{"kill", `{}`, "unavailable: stop is off: excluded"},
	} {
		got := ""
		if _, err := names.Find(c.name, json.RawMessage(c.args)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.name, c.args, got, c.want)
		}
	}
}
