package data

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/data/internal/jq"
	"toolcrib/tools/internal/conform"
	"toolcrib/tools/internal/jsondoc"
	"toolcrib/tools/internal/text/textfile"
)

//go:embed json_process.md
var jsonProcessDoc string

// JSONProcessIn is a document and what to do with it.
type JSONProcessIn struct {
	Operation  string  `json:"operation" jsonschema_description:"parse repairs and shows it, format writes it anew, keys lists its paths, validate holds it to a schema, query runs a jq filter, diff compares it with another." jsonschema:"enum=parse,enum=format,enum=keys,enum=validate,enum=query,enum=diff" alias:"op,action,mode"`
	Text       *string `json:"text,omitempty" jsonschema_description:"The JSON; also what is nearly JSON." alias:"json_string,json,data,input,content,document"`
	Path       string  `json:"path,omitempty" jsonschema_description:"File with the JSON, in the place of text." path:"file" alias:"file_path,file,filename"`
	Filter     string  `json:"filter,omitempty" jsonschema_description:"For query: jq filter, such as .items[] | select(.price > 10) | .name." jsonschema:"maxLength=10000" alias:"query,jq,expression,jq_filter"`
	Schema     *string `json:"schema,omitempty" jsonschema_description:"For validate: JSON Schema; without one only the syntax is checked." alias:"json_schema,schema_string"`
	SchemaPath string  `json:"schema_path,omitempty" jsonschema_description:"File with the schema, in the place of schema." path:"file" alias:"schema_file"`
	Other      *string `json:"other,omitempty" jsonschema_description:"For diff: the JSON to compare with." alias:"json_string2,text2,second,new,with,compare_to"`
	OtherPath  string  `json:"other_path,omitempty" jsonschema_description:"File to compare with, in the place of other." path:"file" alias:"path2,file2"`
	Indent     *int    `json:"indent,omitempty" jsonschema_description:"Spaces of a level, 0 for everything in one line; without it 2, for query 0." jsonschema:"minimum=0,maximum=8"`
	SortKeys   bool    `json:"sort_keys,omitempty" jsonschema_description:"Sort the keys of objects." alias:"sort,sorted"`
	Strict     bool    `json:"strict,omitempty" jsonschema_description:"Refuse what is not JSON instead of repairing it, and keys that are there twice."`
	Offset     int     `json:"offset,omitempty" jsonschema_description:"Lines of the result to skip; the last result names the next." jsonschema:"minimum=0,maximum=10485760"`
}

// maxJSON is how many bytes a result may have: a document takes several times its size with
// indents, and any size if it is deep.
const maxJSON = 8 * maxSource

// jsonProcessTool runs filters in processes of their own if this binary can be started again for
// that.
func jsonProcessTool(restarts bool) tools.Tool {
	return tools.New(tools.Def[JSONProcessIn, Page]{
		Name: "json_process", Title: "Work on JSON", Doc: jsonProcessDoc, Tags: []string{"json", "jq", "schema", "validate", "pretty print", "repair"},
		Access: tools.Read, Effects: tools.None, Repeatable: true,
		Spellings: []schema.Spelling{asJSON("text"), asJSON("schema"), asJSON("other")},
		Limits: tools.Limits{Facts: map[string]any{
			"most": textfile.Size(maxSource), "depth": jsondoc.MaxDepth, "time": jq.Time, "steps": jq.Steps, "memory": textfile.Size(jq.Memory), "problems": conform.MaxProblems,
		}},
		Examples: []tools.Example[JSONProcessIn]{
			{
				Say:  "Repair what a model wrote",
				In:   JSONProcessIn{Operation: "parse", Text: new("{'id': 12345678901234567890, ok: True,}")},
				Want: "repaired: object with 2 keys\n1:2: string in '…'\n1:30: key ok without quotes\n1:34: True read as true\n1:39: comma before the end left out\n\n{\n  \"id\": 12345678901234567890,\n  \"ok\": true\n}",
			},
			{
				Say:   "Select from a file",
				Files: map[string]string{"shop.json": `{"items": [{"name": "pen", "price": 2.50}, {"name": "desk", "price": 120}]}`},
				In:    JSONProcessIn{Operation: "query", Path: "shop.json", Filter: ".items[] | select(.price > 10)"},
				Want:  "1 result\n{\"name\":\"desk\",\"price\":120}",
			},
			{
				Say: "All errors at once",
				In: JSONProcessIn{
					Operation: "validate", Text: new("{\"age\": -1,\n \"nick\": 5}"),
					Schema: new(`{"required": ["name"], "properties": {"age": {"minimum": 0}, "nick": {"type": "string"}}}`),
				},
				Want: "3 problems\n: 1:1: required: the property \"name\" is missing\n/age: 1:9: minimum: -1 is less than 0\n/nick: 2:10: type: 5 is number, not string",
			},
		},
		Run: func(ctx context.Context, in JSONProcessIn) (Page, error) { return jsonProcess(ctx, in, restarts) },
	})
}

// asJSON reads an argument that is no text as its JSON.
func asJSON(name string) schema.Spelling {
	return schema.Spelling{Names: []string{name}, As: "its JSON, with the keys sorted", Read: func(given map[string]any) (map[string]any, error) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		err := e.Encode(given[name])
		return map[string]any{name: strings.TrimSuffix(b.String(), "\n")}, err
	}}
}

func tooLong() error {
	return tools.Errorf(tools.TooLarge, "the result has more than %s", textfile.Size(maxJSON)).WithHint("take a part of the document by query, or a smaller indent")
}

func jsonProcess(ctx context.Context, in JSONProcessIn, restarts bool) (Page, error) {
	if err := admit(ctx, in.Path, in.SchemaPath, in.OtherPath); err != nil {
		return Page{}, err
	}
	text, err := source(ctx, "text", in.Text, in.Path)
	if err != nil {
		return Page{}, err
	}
	doc, err := readJSON(text, in.Strict)
	if err != nil {
		return Page{}, jsonError("", err)
	}
	style := jsondoc.Style{Indent: "  ", Sorted: in.SortKeys, Most: maxJSON}
	if in.Indent != nil {
		style.Indent = strings.Repeat(" ", *in.Indent)
	} else if in.Operation == "query" {
		style.Indent = ""
	}
	var head, body string
	switch in.Operation {
	case "parse":
		head = "valid: " + doc.Root.Summary()
		if len(doc.Repairs) > 0 {
			head = "repaired: " + doc.Root.Summary()
		}
		head += notes(doc) + "\n"
		body = doc.Root.Format(style)
	case "format":
		if remarks := notes(doc); remarks != "" {
			head = "read with remarks" + remarks + "\n"
		}
		body = doc.Root.Format(style)
	case "keys":
		head, body = keysOf(doc)
	case "validate":
		head, body, err = validateJSON(ctx, in, doc)
	case "query":
		head, body, err = queryJSON(ctx, restarts, in.Filter, doc, style)
	case "diff":
		head, body, err = diffJSON(ctx, in, doc)
	}
	if err == nil && len(body) > maxJSON {
		err = tooLong()
	}
	if err != nil {
		return Page{}, err
	}
	if in.Operation != "parse" && in.Operation != "format" {
		head += notes(doc)
	}
	p, err := newPage(escapedJSON(head), escapedJSON(body), in.Offset)
	if err == nil {
		err = ctx.Err()
	}
	return p, err
}

// escapedJSON escapes what deceives a reader as JSON does, so that JSON stays what it is.
func escapedJSON(text string) string { return string(textfile.Escaped([]byte(text))) }

func readJSON(text string, strict bool) (*jsondoc.Doc, error) {
	if !strict {
		return jsondoc.Repair(text)
	}
	doc, err := jsondoc.Parse(text)
	if err == nil && len(doc.Twice) > 0 {
		return nil, tools.Errorf(tools.InvalidArgument, "an object has a key twice%s", tools.Visible(notes(doc))).WithHint("without strict the last value counts")
	}
	return doc, err
}

// jsonError is the error for a text that is no JSON. what names the text, "" if there is one.
func jsonError(what string, err error) error {
	e, ok := errors.AsType[*jsondoc.SyntaxError](err)
	if !ok {
		return err
	}
	if what != "" {
		what += ": "
	}
	return &tools.Error{Code: tools.InvalidArgument, Msg: tools.Visible(what + e.Error())}
}

// maxNotes is how many remarks on a document a result has.
const maxNotes = 20

// notes lists what was repaired and which keys are there twice, each in a line of its own.
func notes(doc *jsondoc.Doc) string {
	var b strings.Builder
	all := slices.Concat(doc.Repairs, doc.Twice)
	slices.SortStableFunc(all, func(x, y jsondoc.Note) int { return x.At - y.At })
	for i, n := range all {
		if i == maxNotes {
			fmt.Fprintf(&b, "\nand %d more", len(all)-i)
			break
		}
		line, column := doc.Position(n.At)
		fmt.Fprintf(&b, "\n%d:%d: %s", line, column, n.Say)
	}
	return b.String()
}

// keysOf lists the paths of a document as jq writes them, those of all items of an array as one.
func keysOf(doc *jsondoc.Doc) (head, body string) {
	type found struct {
		kinds []string
		count int
	}
	paths := map[string]*found{}
	var order []string
	room := maxJSON // for the paths
	var walk func(n *jsondoc.Node, at string)
	walk = func(n *jsondoc.Node, at string) {
		if room < 0 { // the result is too long already
			return
		}
		f := paths[at]
		if f == nil {
			f = &found{}
			room -= len(at)
			paths[at] = f
			order = append(order, at)
		}
		f.count++
		if !slices.Contains(f.kinds, string(n.Kind)) {
			f.kinds = append(f.kinds, string(n.Kind))
		}
		switch n.Kind {
		case jsondoc.Object:
			for _, m := range n.Unique() {
				walk(m.Value, at+jqKey(m))
			}
		case jsondoc.Array:
			for _, item := range n.Items {
				walk(item, at+"[]")
			}
		}
	}
	walk(doc.Root, "")
	var b strings.Builder
	for _, at := range order {
		f := paths[at]
		shown := at
		if !strings.HasPrefix(at, ".") {
			shown = "." + at
		}
		fmt.Fprintf(&b, "%s: %s", shown, strings.Join(f.kinds, " or "))
		if f.count > 1 {
			fmt.Fprintf(&b, ", %d times", f.count)
		}
		b.WriteByte('\n')
	}
	return textfile.Count(len(order), "path"), b.String()
}

// jqKey is a key of a path as jq writes it.
func jqKey(m jsondoc.Member) string {
	plain := m.Key != "" && strings.IndexFunc(m.Key, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0 && (m.Key[0] < '0' || m.Key[0] > '9')
	if plain {
		return "." + m.Key
	}
	return "[" + m.Raw + "]"
}

func validateJSON(ctx context.Context, in JSONProcessIn, doc *jsondoc.Doc) (head, body string, err error) {
	if in.Schema == nil && in.SchemaPath == "" {
		if len(doc.Repairs) > 0 {
			return "not valid JSON: " + textfile.Count(len(doc.Repairs), "place") + " would have to be repaired", "", nil
		}
		return "valid JSON: " + doc.Root.Summary(), "", nil
	}
	text, err := source(ctx, "schema", in.Schema, in.SchemaPath)
	if err != nil {
		return "", "", err
	}
	rules, err := readJSON(text, in.Strict)
	if err != nil {
		return "", "", jsonError("the schema", err)
	}
	base := ""
	if in.SchemaPath != "" {
		base = schemaBase + path.Clean("/"+strings.ReplaceAll(in.SchemaPath, "\\", "/"))
	}
	compiled, err := conform.Compile(rules.Root, base, func(uri string) (*jsondoc.Node, error) { return loadSchema(ctx, uri) })
	if err != nil {
		return "", "", schemaError(ctx, err)
	}
	problems, err := compiled.Validate(ctx, doc.Root)
	if err != nil {
		return "", "", schemaError(ctx, err)
	}
	unchecked := ""
	if format := formatIn(rules.Root); format != "" {
		unchecked = "; formats, such as " + format + ", are not checked"
	}
	if len(problems) == 0 {
		return "valid: conforms to the schema" + unchecked, "", nil
	}
	var b strings.Builder
	for _, p := range problems {
		line, column := doc.Position(p.At)
		fmt.Fprintf(&b, "%s: %d:%d: %s: %s\n", p.Pointer, line, column, p.Keyword, p.Msg)
	}
	head = textfile.Count(len(problems), "problem")
	if len(problems) == conform.MaxProblems {
		head = "the first " + head
	}
	return head + unchecked, b.String(), nil
}

// formatIn returns the first format that a schema demands, "" = none.
func formatIn(n *jsondoc.Node) string {
	for _, m := range n.Members {
		if m.Key == "format" && m.Value.Kind == jsondoc.String {
			return m.Value.Text
		}
		if found := formatIn(m.Value); found != "" {
			return found
		}
	}
	for _, item := range n.Items {
		if found := formatIn(item); found != "" {
			return found
		}
	}
	return ""
}

// schemaBase begins the URI of a schema in a file, so that relative references lead to files.
const schemaBase = "file://"

func loadSchema(ctx context.Context, uri string) (*jsondoc.Node, error) {
	name, ok := strings.CutPrefix(uri, schemaBase+"/")
	if !ok {
		return nil, errors.New("other schemas are not fetched; put it into $defs, or save it and refer to it by a path relative to schema_path")
	}
	text, err := readFile(ctx, name)
	if err != nil {
		return nil, err
	}
	doc, err := jsondoc.Repair(text)
	if err != nil {
		return nil, err
	}
	return doc.Root, nil
}

func schemaError(ctx context.Context, err error) error {
	e, ok := errors.AsType[*conform.SchemaError](err)
	if !ok || ctx.Err() != nil {
		return err
	}
	return tools.Errorf(tools.InvalidArgument, "the schema is not usable: %s", tools.Visible(e.Error()))
}

func diffJSON(ctx context.Context, in JSONProcessIn, doc *jsondoc.Doc) (head, body string, err error) {
	text, err := source(ctx, "other", in.Other, in.OtherPath)
	if err != nil {
		return "", "", err
	}
	other, err := readJSON(text, in.Strict)
	if err != nil {
		return "", "", jsonError("other", err)
	}
	found := jsondoc.Diff(doc.Root, other.Root, maxJSON)
	if len(found) == 0 {
		return "equal", "", nil
	}
	var b strings.Builder
	style := jsondoc.Style{Most: maxJSON}
	for _, d := range found {
		switch {
		case b.Len() > maxJSON: // the result is too long already
		case d.Old == nil:
			fmt.Fprintf(&b, "%s: added %s\n", d.Pointer, d.New.Format(style))
		case d.New == nil:
			fmt.Fprintf(&b, "%s: removed %s\n", d.Pointer, d.Old.Format(style))
		default:
			fmt.Fprintf(&b, "%s: %s -> %s\n", d.Pointer, d.Old.Format(style), d.New.Format(style))
		}
	}
	return textfile.Count(len(found), "difference"), b.String(), nil
}
