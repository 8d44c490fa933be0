package tools

import (
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

// Def declares a tool. In and Out are structs: In is what the model fills in,
// Out what it gets. The tags of In carry everything the schema says:
//
//	json                   name; omitempty makes the argument optional
//	jsonschema             minimum, maximum, enum, default, minItems ... (invopop)
//	jsonschema_description what the argument is, in one line
//	path                   "file", "directory" or "any": a path of the workspace
//	alias                  other names that models use for it, comma separated
//	record                 "digest": the audit log has its length and a digest in its place, as of what stands in files
//	unit                   "s,ms" of a time: a bare number below 1,000 is in seconds, others in milliseconds
type Def[In, Out any] struct {
	Name    string // ^[a-z][a-z0-9_]{0,39}$
	Title   string
	Doc     string   // embedded .md: first paragraph = description, rest = manual
	Aliases []string // old names that keep resolving
	Tags    []string
	// SameAs is a tool that does the same, such as the one that reads what this one reads
	// for a resource: rules and hooks for it hold for this one too. "" = none.
	SameAs string

	Access     Access
	Effects    Effects
	Repeatable bool // calling it twice equals calling it once
	Streams    bool // calls Progress
	Data       bool // the result is data: outputSchema and structuredContent go on the wire

	Cache   time.Duration // how long a result may be given again; 0 = not cached
	Timeout time.Duration // of one attempt; 0 = DefaultTimeout
	Limits  Limits
	Needs   []Need

	// Spellings are the arguments that callers write in another form.
	Spellings []schema.Spelling
	// Plan says what a call would do, for a tool that does different things by its
	// arguments, such as one that runs commands. It changes nothing and is quick. Without
	// it the policy takes every call to have all of Effects.
	Plan func(ctx context.Context, in In) (Plan, error)
	// Confirm says what to ask the user before the call, if anything.
	Confirm func(ctx context.Context, in In) (Question, error)
	// Tell returns what records and logs may tell of a call: its arguments without the
	// secrets that only the tool can see, such as the password of a command line. It is
	// asked before the call does anything, changes nothing and is quick. nil = all of them.
	Tell     func(ctx context.Context, in In) In
	Examples []Example[In]
	Run      func(ctx context.Context, in In) (Out, error)
}

// DefaultTimeout is the timeout of an attempt where a tool sets none.
const DefaultTimeout = 60 * time.Second

// Limits bounds one result.
type Limits struct {
	// Text is the most bytes of text; 0 = MaxText.
	Text int
	// Facts are numbers that the Doc names as {{.name}}.
	Facts map[string]any
}

// Example is a call with its result: shown in the manual and run as a test.
type Example[In any] struct {
	Say   string            // what the call is for
	Files map[string]string // the workspace: path -> content; a path ending in "/" is a directory, content after "-> " a symlink's target
	// Before does what has happened before the call, in its context; nil = nothing.
	Before func(ctx context.Context) error
	In     In
	Want   string // the text of the result; a line "..." stands for any lines, "…" for any text in a line
	// After is the whole workspace after the call, as Files has it; nil = not looked at.
	After map[string]string
}

// Call is an Example with its arguments as JSON.
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
	SameAs                string
	Access                Access
	Effects               Effects
	Repeatable, Streams   bool
	Cache, Timeout        time.Duration
	Limits                Limits
	Needs                 []Need

	doc      string
	spelled  []schema.Spelling
	input    func() (*schema.Type, error)
	output   func() (*schema.Type, error) // nil where the result is not data
	newIn    func() any
	plan     func(ctx context.Context, in any) (Plan, error)     // nil: every call has all effects
	confirm  func(ctx context.Context, in any) (Question, error) // nil: never asks by itself
	tell     func(ctx context.Context, in any) (told any, less bool)
	run      func(ctx context.Context, in any) (any, error)
	trim     func(out any, budget int) any // nil: Out cannot be trimmed
	examples func() []Call
}

// New makes a tool from its declaration. Its category is the name of the
// package that declares In. New panics, naming the tool, when the declaration
// is wrong: that is a programmer's error.
func New[In, Out any](d Def[In, Out]) Tool {
	inType := reflect.TypeFor[In]()
	t := Tool{
		Name: d.Name, Title: d.Title, Category: path.Base(inType.PkgPath()),
		Aliases: d.Aliases, Tags: d.Tags, SameAs: d.SameAs,
		Access: d.Access, Effects: d.Effects, Repeatable: d.Repeatable, Streams: d.Streams,
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
	if d.Tell != nil {
		t.tell = func(ctx context.Context, in any) (any, bool) {
			told := d.Tell(ctx, *in.(*In))
			return told, !reflect.DeepEqual(told, *in.(*In))
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

// DynamicDef declares a tool that is not known at build time: one of a mounted
// server or a plugin. It has no snapshot.
type DynamicDef struct {
	Name, Title, Category, Doc string
	Schema                     json.RawMessage // of the arguments; must be portable
	Access                     Access
	Effects                    Effects
	Repeatable, Streams        bool
	Timeout                    time.Duration
	Run                        func(ctx context.Context, args json.RawMessage) (Result, error)
}

// Dynamic makes a tool from a schema and a function over raw JSON. What is
// wrong with a declaration that came from outside is an error, not a panic.
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

// Input returns the schema of the arguments. The reflection happens at the
// first use.
func (t Tool) Input() (*schema.Type, error) { return t.input() }

// Output returns the schema of a result that is data, nil for the other tools.
func (t Tool) Output() (*schema.Type, error) {
	if t.output == nil {
		return nil, nil
	}
	return t.output()
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

// Bind parses, mends, validates and decodes arguments.
func (t Tool) Bind(raw json.RawMessage) (Bound, error) {
	typ, err := t.input()
	if err != nil {
		return Bound{}, err
	}
	in := t.newIn()
	args, err := typ.Decode(raw, in, schema.Options{Spellings: t.spelled})
	return Bound{Args: args, in: in}, err
}

// Digested returns the names of the arguments of tools, at any depth, that have the tag
// record:"digest".
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

// Asks reports whether the tool may have a Question.
func (t Tool) Asks() bool { return t.confirm != nil }

// Question returns what to ask the user before the call; the zero Question
// means nothing.
func (t Tool) Question(ctx context.Context, b Bound) (Question, error) {
	if t.confirm == nil {
		return Question{}, nil
	}
	return t.confirm(ctx, b.in)
}

// Run carries out the call and returns its Out.
func (t Tool) Run(ctx context.Context, b Bound) (any, error) { return t.run(ctx, b.in) }
