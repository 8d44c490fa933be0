package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/workspace"
)

type wordIn struct {
	Word  string `json:"word" jsonschema_description:"Word to repeat." alias:"term"`
	Times int    `json:"times,omitempty" jsonschema_description:"How often." jsonschema:"minimum=1,maximum=100,default=2"`
}

type wordOut struct {
	Words []string
	Cut   int
}

func (o wordOut) Text() string {
	if o.Cut > 0 {
		return fmt.Sprintf("%s ... %d more", strings.Join(o.Words, " "), o.Cut)
	}
	return strings.Join(o.Words, " ")
}

func (o wordOut) Trim(budget int) wordOut {
	keep := (budget - len(" ... 100 more")) / (len(o.Words[0]) + 1)
	return wordOut{Words: o.Words[:keep], Cut: len(o.Words) - keep}
}

func wordDef() tools.Def[wordIn, wordOut] {
	return tools.Def[wordIn, wordOut]{
		Name: "word", Title: "Repeat a word", Doc: "Repeats a word.\n\nAt most {{max \"times\"}} times, {{default \"times\"}} if not said; {{.text}} bytes; {{.speed}}.",
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Limits: tools.Limits{Text: 40, Facts: map[string]any{"speed": "fast"}},
		Run: func(_ context.Context, in wordIn) (wordOut, error) {
			var out wordOut
			for range in.Times {
				out.Words = append(out.Words, in.Word)
			}
			return out, nil
		},
	}
}

func TestCall(t *testing.T) {
	tool := tools.New(wordDef())
	for _, c := range []struct{ args, want string }{
		{`{"word":"a"}`, "a a"},
		{`{"term":"a","times":"3"}`, "a a a"},
		{`{"word":"long","times":100}`, "long long long long long ... 95 more"},
	} {
		bound, err := tool.Bind(json.RawMessage(c.args))
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		out, err := tool.Run(t.Context(), bound)
		if err != nil {
			t.Fatal(err)
		}
		result, err := tool.Render(out)
		if err != nil || result.Content[0].Text != c.want || result.Structured != nil {
			t.Errorf("%s: %+v, %v; want %q", c.args, result, err, c.want)
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	for _, effects := range []tools.Effects{tools.None, tools.Workspace} {
		def := wordDef()
		if effects != tools.None {
			def.Access, def.Effects = tools.Write, effects
		}
		_, err := tools.New(def).Bind(json.RawMessage(`{"word":"a","tmies":3}`))
		if e := tools.AsError(err); e == nil || e.Code != tools.InvalidArgument || !strings.Contains(e.Msg, `did you mean "times"`) {
			t.Errorf("effects %s: %v; want a refusal with the nearest name", effects, err)
		}
		if bound, err := tools.New(def).Bind(json.RawMessage(`{"word":"a","reason":"r"}`)); err != nil || bound.Mends != nil {
			t.Errorf("effects %s: a remark: %v, mends %q", effects, err, bound.Mends)
		}
	}
}

func TestSpellings(t *testing.T) {
	def := wordDef()
	def.Spellings = []schema.Spelling{{Names: []string{"once"}, Read: func(map[string]any) (map[string]any, error) {
		return map[string]any{"times": 1}, nil
	}}}
	bound, err := tools.New(def).Bind(json.RawMessage(`{"word":"a","once":true}`))
	if err != nil || len(bound.Mends) != 1 || string(bound.Canonical) != `{"times":1,"word":"a"}` {
		t.Errorf("%s, mends %q, %v", bound.Canonical, bound.Mends, err)
	}
}

func TestDoc(t *testing.T) {
	tool := tools.New(wordDef())
	if got, err := tool.Description(); err != nil || got != "Repeats a word." {
		t.Errorf("description: %q, %v", got, err)
	}
	if got, err := tool.Manual(); err != nil || got != "At most 100 times, 2 if not said; 40 bytes; fast." {
		t.Errorf("manual: %q, %v", got, err)
	}
}

func TestTooLarge(t *testing.T) {
	tool, err := tools.Dynamic(tools.DynamicDef{
		Name: "loud", Title: "Loud", Category: "test", Doc: "Shouts.",
		Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Access: tools.Read, Effects: tools.None,
		Run: func(context.Context, json.RawMessage) (tools.Result, error) {
			return tools.Result{Content: []tools.Block{tools.Text(strings.Repeat("x", tools.MaxText+1))}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := tool.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := tool.Run(t.Context(), bound)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Render(out); tools.AsError(err).Code != tools.TooLarge {
		t.Errorf("got %v, want too_large", err)
	}
}

// TestDeclarations shows that a wrong declaration does not survive start-up.
func TestDeclarations(t *testing.T) {
	for name, spoil := range map[string]func(*tools.Def[wordIn, wordOut]){
		"no name":               func(d *tools.Def[wordIn, wordOut]) { d.Name = "" },
		"name with capitals":    func(d *tools.Def[wordIn, wordOut]) { d.Name = "Word" },
		"name too long":         func(d *tools.Def[wordIn, wordOut]) { d.Name = strings.Repeat("w", 41) },
		"bad alias":             func(d *tools.Def[wordIn, wordOut]) { d.Aliases = []string{"a b"} },
		"no title":              func(d *tools.Def[wordIn, wordOut]) { d.Title = "" },
		"no doc":                func(d *tools.Def[wordIn, wordOut]) { d.Doc = " \n" },
		"no access":             func(d *tools.Def[wordIn, wordOut]) { d.Access = 0 },
		"no effects":            func(d *tools.Def[wordIn, wordOut]) { d.Effects = 0 },
		"none with others":      func(d *tools.Def[wordIn, wordOut]) { d.Effects = tools.None | tools.State },
		"reads with effects":    func(d *tools.Def[wordIn, wordOut]) { d.Effects = tools.Workspace },
		"writes without any":    func(d *tools.Def[wordIn, wordOut]) { d.Access = tools.Write },
		"cache not repeatable":  func(d *tools.Def[wordIn, wordOut]) { d.Cache, d.Repeatable = time.Second, false },
		"timeout out of range":  func(d *tools.Def[wordIn, wordOut]) { d.Timeout = 2 * time.Hour },
		"limit out of range":    func(d *tools.Def[wordIn, wordOut]) { d.Limits.Text = tools.MaxResource + 1 },
		"need without a way":    func(d *tools.Def[wordIn, wordOut]) { d.Needs = []tools.Need{{Env: "KEY"}} },
		"no function":           func(d *tools.Def[wordIn, wordOut]) { d.Run = nil },
		"access out of range":   func(d *tools.Def[wordIn, wordOut]) { d.Access = 99 },
		"effects out of range":  func(d *tools.Def[wordIn, wordOut]) { d.Effects = 1 << 15 },
		"negative cache period": func(d *tools.Def[wordIn, wordOut]) { d.Cache = -1 },
		"least without a plan": func(d *tools.Def[wordIn, wordOut]) {
			d.Access, d.Effects, d.Least = tools.Write, tools.State, tools.Read
		},
		"least that writes": func(d *tools.Def[wordIn, wordOut]) {
			d.Access, d.Effects, d.Least = tools.External, tools.Network, tools.Write
			d.Plan = func(context.Context, wordIn) (tools.Plan, error) { return tools.Plan{}, nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			def := wordDef()
			spoil(&def)
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, fmt.Sprintf("%q", def.Name)) {
					t.Errorf("panic %q, want one that names the tool", text)
				}
			}()
			tools.New(def)
		})
	}
}

// A plan lowers the access of a call only as far as the tool declares, and says what the call
// does then.
func TestPlan(t *testing.T) {
	const all = tools.Workspace | tools.Network
	for _, tc := range []struct {
		least, want tools.Access // 0 = it is refused
		plan        tools.Plan
		effects     tools.Effects
	}{
		{0, tools.External, tools.Plan{}, all},
		{tools.Read, tools.External, tools.Plan{}, all},
		{tools.Read, tools.External, tools.Plan{Effects: tools.Network}, tools.Network},
		{tools.Read, tools.Read, tools.Plan{Access: tools.Read, Effects: tools.None}, tools.None},
		{tools.Read, tools.Write, tools.Plan{Access: tools.Write, Effects: tools.Workspace}, tools.Workspace},
		{0, 0, tools.Plan{Access: tools.Read, Effects: tools.None}, 0},
		{0, 0, tools.Plan{Access: tools.Read}, 0},
		{tools.Read, 0, tools.Plan{Access: tools.Read}, 0}, // with all effects
		{tools.Read, 0, tools.Plan{Access: tools.Read, Effects: tools.Network}, 0},
		{tools.Read, 0, tools.Plan{Access: tools.Write}, 0},
		{tools.Read, 0, tools.Plan{Access: tools.Write, Effects: tools.None}, 0},
		{tools.Read, 0, tools.Plan{Access: tools.Delegates, Effects: tools.None}, 0},
		{tools.Read, 0, tools.Plan{Effects: tools.State}, 0},
		{tools.Read, 0, tools.Plan{Effects: tools.None | tools.Network}, 0},
	} {
		def := wordDef()
		def.Access, def.Effects, def.Least, def.Cache = tools.External, all, tc.least, 0
		def.Plan = func(context.Context, wordIn) (tools.Plan, error) { return tc.plan, nil }
		tool := tools.New(def)
		bound, err := tool.Bind([]byte(`{"word":"a"}`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := tool.Plan(t.Context(), bound)
		if got.Access != tc.want || got.Effects != tc.effects || (err == nil) != (tc.want != 0) {
			t.Errorf("least %s, %+v: access %s, effects %s, %v", tc.least, tc.plan, got.Access, got.Effects, err)
		}
	}
}

func TestValidateFindsTakenNames(t *testing.T) {
	other := wordDef()
	other.Name, other.Aliases = "words", []string{"word"}
	err := tools.Validate([]tools.Tool{tools.New(wordDef()), tools.New(other)})
	if err == nil || !strings.Contains(err.Error(), `name "word" is taken by "word"`) {
		t.Errorf("got %v", err)
	}
}

func TestAnnotations(t *testing.T) {
	for _, c := range []struct {
		access     tools.Access
		effects    tools.Effects
		repeatable bool
		want       tools.Annotations
	}{
		{tools.Read, tools.None, true, tools.Annotations{ReadOnly: true, Idempotent: true}},
		{tools.Write, tools.Workspace, false, tools.Annotations{}},
		{tools.Write, tools.Workspace | tools.Destroys, true, tools.Annotations{Destructive: true, Idempotent: true}},
		{tools.External, tools.Network, false, tools.Annotations{OpenWorld: true}},
		{tools.Delegates, tools.None, true, tools.Annotations{Destructive: true, OpenWorld: true}},
	} {
		def := wordDef()
		def.Access, def.Effects, def.Repeatable = c.access, c.effects, c.repeatable
		if got := tools.New(def).Annotations(); got != c.want {
			t.Errorf("%v, %v: %+v, want %+v", c.access, c.effects, got, c.want)
		}
	}
}

func TestAsError(t *testing.T) {
	for _, c := range []struct {
		err  error
		code tools.Code
	}{
		{context.Canceled, tools.Cancelled},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), tools.Timeout},
		{&fs.PathError{Op: "open", Path: "/secret/host/path", Err: fs.ErrNotExist}, tools.NotFound},
		{fs.ErrPermission, tools.Denied},
		{errors.ErrUnsupported, tools.Unsupported},
		{errors.New("boom"), tools.Internal},
		{&workspace.Error{Rule: workspace.RuleOutside, Msg: "x"}, tools.Denied},
		{fmt.Errorf("wrapped: %w", tools.Errorf(tools.Conflict, "a.txt changed")), tools.Conflict},
	} {
		e := tools.AsError(c.err)
		if e.Code != c.code {
			t.Errorf("%v: %s, want %s", c.err, e.Code, c.code)
		}
		if strings.Contains(e.Error(), "/secret/host") {
			t.Errorf("%v shows the host path: %s", c.err, e)
		}
	}
	if tools.AsError(nil) != nil {
		t.Error("AsError(nil) is not nil")
	}
}

// TestWorkspaceRules proves that every rule of the workspace has a code.
func TestWorkspaceRules(t *testing.T) {
	for _, rule := range []workspace.Rule{
		workspace.RuleInvalid, workspace.RuleOutside, workspace.RuleSpecial, workspace.RuleProcfs, workspace.RuleLoop,
		workspace.RuleNotFound, workspace.RuleKind, workspace.RuleAccess, workspace.RuleIO,
	} {
		if tools.AsError(&workspace.Error{Rule: rule}).Code == "" {
			t.Errorf("rule %s has no code", rule)
		}
	}
}

func TestClip(t *testing.T) {
	long := strings.Repeat("é", tools.MaxErrorText)
	if got := tools.Clip(long); len(got) > tools.MaxErrorText || !strings.Contains(got, "[cut:") || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("%d bytes, %q", len(got), got[len(got)-40:])
	}
	if got := tools.Clip("short"); got != "short" {
		t.Error(got)
	}
}
