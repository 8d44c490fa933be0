package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/schema"
)

// Def declares a tool. In and Out are structs: the model fills in In and gets Out. The tags
// of In determine its schema:
//
//	json                   name; omitempty makes the argument optional
//	jsonschema             minimum, maximum, enum, default, minItems ... (invopop)
//	jsonschema_description describes the argument in one line
//	path                   "file", "directory" or "any": a path of the workspace
//	alias                  other names that models use for it, comma separated
//	record                 "digest": the audit log has only its length and a digest; for contents of files
//	unit                   "s,ms": a duration; a bare number below 1,000 is in seconds, others in milliseconds
type Def[In, Out any] struct {
	Name    string // ^[a-z][a-z0-9_]{0,39}$
	Title   string
	Doc     string   // embedded .md: first paragraph = description, rest = manual
	Aliases []string // old names that keep resolving
	// Foreign are names that other systems have for what the tool does.
	Foreign []Foreign
	// Tags are what users call what the tool does; search_tools finds it by them.
	Tags []string
	// SameAs is a tool that does the same, such as the one that reads the files that this
	// one reads as resources: its rules and hooks apply to this one too. "" = none.
	SameAs string

	Access  Access
	Effects Effects
	// Least is the access of the calls that do least; its Plan says which. 0 = Access.
	Least      Access
	Repeatable bool // calling it twice has the effect of calling it once
	Streams    bool // calls Progress
	Data       bool // the result is data: outputSchema and structuredContent go on the wire

	Cache   time.Duration // how long a result may be reused; 0 = not cached
	Timeout time.Duration // of one attempt; 0 = DefaultTimeout
	Limits  Limits
	Needs   []Need

	// Spellings are other forms in which callers write arguments.
	Spellings []schema.Spelling
	// Plan returns the plan of a call. It is for tools whose effects depend on their
	// arguments, such as one that runs commands. It changes nothing and is quick. nil: the
	// policy assumes that every call has all of Effects.
	Plan func(ctx context.Context, in In) (Plan, error)
	// Confirm returns the question to ask the user before the call, if any.
	Confirm func(ctx context.Context, in In) (Question, error)
	// Redact returns the arguments for records and logs, without secrets that only the tool
	// can recognize, such as a password in a command line. It is called before the call
	// does anything, changes nothing and is quick. nil = records get all arguments.
	Redact   func(ctx context.Context, in In) In
	Examples []Example[In]
	Run      func(ctx context.Context, in In) (Out, error)
}

// DefaultTimeout is the timeout of an attempt where a tool sets none.
const DefaultTimeout = 60 * time.Second

// Limits bounds one result.
type Limits struct {
	// Text is the maximum of bytes of text; 0 = MaxText.
	Text int
	// Facts are values that the Doc uses as {{.name}}.
	Facts map[string]any
}

// Example is a call with its result: shown in the manual and run as a test.
type Example[In any] struct {
	Say   string            // purpose of the call
	Files map[string]string // the workspace: path -> content; a path ending in "/" is a directory, content after "-> " a symlink's target
	// Before prepares the call, in its context; nil = nothing.
	Before func(ctx context.Context) error
	In     In
	Want   string // the text of the result; a line "..." matches any lines, "…" any text in a line
	// After is the whole workspace after the call, in the form of Files; nil = not checked.
	After map[string]string
}

// Call is an [Example] with its arguments as JSON.
type Call struct {
	Say    string
	Files  map[string]string
	Before func(ctx context.Context) error
	Args   json.RawMessage
	Want   string
	After  map[string]string
}

// Tool is one tool with its types erased. Only [New] and [Dynamic] make one.
type Tool struct {
	Name, Title, Category string
	Aliases, Tags         []string
	Foreign               []Foreign
	SameAs                string
	Access, Least         Access
	Effects               Effects
	Repeatable, Streams   bool
	Cache, Timeout        time.Duration
	Limits                Limits
	Needs                 []Need

	doc      string
	spelled  []schema.Spelling
	implied  map[string]any // by the foreign name of the call
	input    func() (*schema.Type, error)
	output   func() (*schema.Type, error) // nil if the result is not data
	newIn    func() any
	plan     func(ctx context.Context, in any) (Plan, error)     // nil: every call has all effects
	confirm  func(ctx context.Context, in any) (Question, error) // nil: never asks by itself
	redact   func(ctx context.Context, in any) (redacted any, less bool)
	run      func(ctx context.Context, in any) (any, error)
	trim     func(out any, budget int) any // nil: Out cannot be trimmed
	examples func() []Call
}

// New makes a tool from its declaration. Its category is the name of the package that
// declares In. New panics with the tool's name if the declaration is wrong, since that is a
// programmer's error.
func New[In, Out any](d Def[In, Out]) Tool {
	inType := reflect.TypeFor[In]()
	t := Tool{
		Name: d.Name, Title: d.Title, Category: path.Base(inType.PkgPath()),
		Aliases: d.Aliases, Foreign: d.Foreign, Tags: d.Tags, SameAs: d.SameAs,
		Access: d.Access, Least: d.Least, Effects: d.Effects, Repeatable: d.Repeatable, Streams: d.Streams,
		Cache: d.Cache, Timeout: d.Timeout, Limits: d.Limits, Needs: d.Needs,
		doc: d.Doc, spelled: d.Spellings,
		input: sync.OnceValues(schema.For[In]),
		newIn: func() any { return new(In) },
	}
	if d.Run == nil {
		panic(fmt.Sprintf("tool %q: no Run", d.Name))
	}
	t.run = func(ctx context.Context, in any) (any, error) {
		out, err := d.Run(ctx, *in.(*In))
		return out, meant(ctx, err)
	}
	if d.Plan != nil {
		t.plan = func(ctx context.Context, in any) (Plan, error) { return d.Plan(ctx, *in.(*In)) }
	}
	if d.Confirm != nil {
		t.confirm = func(ctx context.Context, in any) (Question, error) { return d.Confirm(ctx, *in.(*In)) }
	}
	if d.Redact != nil {
		t.redact = func(ctx context.Context, in any) (any, bool) {
			redacted := d.Redact(ctx, *in.(*In))
			return redacted, !reflect.DeepEqual(redacted, *in.(*In))
		}
	}
	if d.Data {
		t.output = sync.OnceValues(schema.For[Out])
	}
	if _, ok := any(*new(Out)).(Trimmer[Out]); ok {
		t.trim = func(out any, budget int) any { return out.(Trimmer[Out]).Trim(budget) }
	}
	t.examples = func() []Call { return erase(d.Examples) }
	t.complete()
	return t
}

// DynamicDef declares a tool that is not known at build time, such as one of a mounted
// server. It has no snapshot.
type DynamicDef struct {
	Name, Title, Category, Doc string
	Schema                     json.RawMessage // of the arguments; must be portable
	Access                     Access
	Effects                    Effects
	Repeatable, Streams        bool
	Timeout                    time.Duration
	Run                        func(ctx context.Context, args json.RawMessage) (Result, error)
}

// Dynamic makes a tool from a schema and a function that takes raw JSON. The declaration
// comes from outside, so a mistake in it is an error and no panic.
func Dynamic(d DynamicDef) (Tool, error) {
	t := Tool{
		Name: d.Name, Title: d.Title, Category: d.Category,
		Access: d.Access, Effects: d.Effects, Repeatable: d.Repeatable, Streams: d.Streams, Timeout: d.Timeout,
		doc:      d.Doc,
		input:    sync.OnceValues(func() (*schema.Type, error) { return schema.Parse(d.Schema) }),
		newIn:    func() any { return new(json.RawMessage) },
		examples: func() []Call { return nil },
	}
	if d.Run == nil {
		return Tool{}, fmt.Errorf("tool %q: no Run", d.Name)
	}
	t.run = func(ctx context.Context, in any) (any, error) { return d.Run(ctx, *in.(*json.RawMessage)) }
	t.defaults()
	if _, err := t.input(); err != nil {
		return Tool{}, fmt.Errorf("tool %q: %w", d.Name, err)
	}
	return t, t.check()
}

func (t *Tool) complete() {
	t.defaults()
	if err := t.check(); err != nil {
		panic(err.Error())
	}
}

func (t *Tool) defaults() {
	if t.Timeout == 0 {
		t.Timeout = DefaultTimeout
	}
	if t.Least == 0 {
		t.Least = t.Access
	}
	if t.Limits.Text == 0 {
		t.Limits.Text = MaxText
	}
}

func erase[In any](examples []Example[In]) []Call {
	calls := make([]Call, len(examples))
	for i, e := range examples {
		args, err := json.Marshal(e.In)
		if err != nil {
			panic(err)
		}
		calls[i] = Call{Say: e.Say, Files: e.Files, Before: e.Before, Args: args, Want: e.Want, After: e.After}
	}
	return calls
}

// Input returns the schema of the arguments. It is built at the first use.
func (t Tool) Input() (*schema.Type, error) { return t.input() }

// Output returns the schema of the result; nil for a tool whose result is not data.
func (t Tool) Output() (*schema.Type, error) {
	if t.output == nil {
		return nil, nil
	}
	return t.output()
}

// Description returns the first paragraph of the Doc: what the tool does and when to use it.
func (t Tool) Description() (string, error) {
	first, _, _ := strings.Cut(strings.TrimSpace(t.doc), "\n\n")
	text, err := t.fill(first)
	return strings.Join(strings.Fields(text), " "), err
}

// Manual returns the rest of the Doc, in Markdown.
func (t Tool) Manual() (string, error) {
	_, rest, _ := strings.Cut(strings.TrimSpace(t.doc), "\n\n")
	text, err := t.fill(rest)
	return strings.TrimSpace(text), err
}

// fill puts the real limits into a text of the Doc: {{max "limit"}}, {{min "limit"}} and
// {{default "limit"}} of an argument, {{.text}} for the maximum of bytes of text, and
// {{.name}} for a fact of Limits.
func (t Tool) fill(text string) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	in, err := t.Input()
	if err != nil {
		return "", err
	}
	facts := map[string]any{".text": t.Limits.Text}
	for name, fact := range t.Limits.Facts {
		facts["."+name] = fact
	}
	keywords := map[string]string{"max": "maximum", "min": "minimum", "default": "default"}
	text, err = Fill(text, func(name string) (string, bool) {
		if fact, ok := facts[name]; ok {
			return fmt.Sprint(fact), true
		}
		of, quoted, _ := strings.Cut(name, " ")
		v, ok := in.Keyword(strings.Trim(quoted, `"`), keywords[of])
		return fmt.Sprint(v), ok
	})
	if err != nil {
		return "", fmt.Errorf("doc: %w", err)
	}
	return text, nil
}

// Fill puts values in the place of their names, which are between braces: {{name}}. A name
// without a value is an error.
//
// There is no template engine in the program: one calls methods by names that it reads, so with
// it the linker keeps the methods of all types, a tenth of the program.
func Fill(text string, value func(name string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		before, rest, more := strings.Cut(text, "{{")
		b.WriteString(before)
		if !more {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}}")
		v, ok := value(name)
		if !ok || !closed {
			return "", fmt.Errorf("{{%s}} has no value", name)
		}
		b.WriteString(v)
		text = after
	}
}

// Annotations returns the hints for clients.
func (t Tool) Annotations() Annotations { return annotations(t.Access, t.Effects, t.Repeatable) }

// Examples returns the calls that the manual shows.
func (t Tool) Examples() []Call { return t.examples() }

// Bound is a call's arguments after validation.
type Bound struct {
	schema.Args
	in any
}

// Bind parses, coerces, validates and decodes arguments.
func (t Tool) Bind(raw json.RawMessage) (Bound, error) {
	typ, err := t.input()
	if err != nil {
		return Bound{}, err
	}
	in := t.newIn()
	args, err := typ.Decode(raw, in, schema.Options{Spellings: t.spelled, Implied: t.implied})
	return Bound{Args: args, in: in}, err
}

// Digested returns the names of arguments, at any depth, that have the tag record:"digest".
func Digested(all []Tool) []string {
	found := map[string]bool{}
	for _, t := range all {
		digested(reflect.TypeOf(t.newIn()), found)
	}
	return slices.Sorted(maps.Keys(found))
}

func digested(t reflect.Type, found map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		digested(t.Elem(), found)
	case reflect.Struct:
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.Tag.Get("record") == "digest" {
				found[name] = true
			}
			if f.IsExported() {
				digested(f.Type, found)
			}
		}
	}
}

// Asks reports whether the tool has a Confirm.
func (t Tool) Asks() bool { return t.confirm != nil }

// Question returns the question to ask before the call; the zero Question = none.
func (t Tool) Question(ctx context.Context, b Bound) (Question, error) {
	if t.confirm == nil {
		return Question{}, nil
	}
	return t.confirm(ctx, b.in)
}

// Redacts reports whether the tool has a Redact. Arguments of such a tool that could not be
// bound must not be recorded at all.
func (t Tool) Redacts() bool { return t.redact != nil }

// Redacted returns the arguments of a call for records and logs. If the tool fails to redact
// them, the result is only their length.
func (t Tool) Redacted(ctx context.Context, b Bound) json.RawMessage {
	if t.redact == nil {
		return b.Canonical
	}
	redacted := b.Canonical
	err := Recover(func() error {
		in, less := t.redact(ctx, b.in)
		if !less {
			return nil
		}
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		err := enc.Encode(in)
		redacted = bytes.TrimSuffix(text.Bytes(), []byte{'\n'})
		return err
	})
	if err != nil {
		return Withheld(b.Canonical)
	}
	return redacted
}

// Withheld returns the length of arguments, to be recorded instead of them.
func Withheld(args json.RawMessage) json.RawMessage {
	return fmt.Appendf(nil, `"%d bytes, not told"`, len(args))
}

// Run carries out the call and returns its Out.
func (t Tool) Run(ctx context.Context, b Bound) (any, error) { return t.run(ctx, b.in) }
