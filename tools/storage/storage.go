package storage

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/text/textfile"
)

//go:embed storage.md
var storageDoc string

// In says what to do with which key.
type In struct {
	Operation       string  `json:"operation" jsonschema_description:"What to do; scan lists keys with values, list without." jsonschema:"enum=put,enum=get,enum=delete,enum=scan,enum=list" alias:"operate,action,op"`
	Key             string  `json:"key,omitempty" jsonschema_description:"Path such as a/b/c; scan and list take all at or below it." alias:"path,prefix,name"`
	Value           *string `json:"value,omitempty" jsonschema_description:"For put: the text." record:"digest" alias:"content,text,data"`
	ExpectedVersion *int64  `json:"expected_version,omitempty" jsonschema_description:"For put and delete: only if the key is at this version; 0 = it must not exist." jsonschema:"minimum=0,maximum=9007199254740991" alias:"if_version,cas"`
	TTL             string  `json:"ttl,omitempty" unit:"s,s" jsonschema_description:"For put: expire after, such as \"30m\" or \"7d\"." jsonschema:"maxLength=20" alias:"expires,expire,expires_in"`
	Namespace       string  `json:"namespace,omitempty" jsonschema_description:"Keeps keys apart." jsonschema:"default=default,maxLength=100" alias:"bucket,collection"`
	Scope           string  `json:"scope,omitempty" jsonschema_description:"workspace = of this root, user = of all roots." jsonschema:"enum=workspace,enum=user,default=workspace"`
	Limit           int     `json:"limit,omitempty" jsonschema_description:"For scan and list: most entries." jsonschema:"minimum=1,maximum=1000,default=100"`
	After           string  `json:"after,omitempty" jsonschema_description:"For scan and list: go on behind this key." alias:"cursor,start_after"`
	Offset          int     `json:"offset,omitempty" jsonschema_description:"For get: bytes of the value to skip." jsonschema:"minimum=0,maximum=1048576"`
}

// Out is a value, entries, or what was done.
type Out struct {
	tools.More
	status string
	rest   string // what follows the end of the status
	value  string // of a get
	offset int    // of value
}

// Text implements [tools.Texter].
func (o Out) Text() string {
	text := o.status + o.rest
	if o.value != "" {
		text += "\n" + o.value
	}
	return text
}

// Trim implements [tools.Trimmer].
func (o Out) Trim(budget int) Out {
	total := o.offset + len(o.value)
	const told = 100 // what is added to the status
	end := max(budget-len(o.status)-told, 0)
	for end > 0 && end < len(o.value) && !utf8.RuneStart(o.value[end]) {
		end--
	}
	o.value = o.value[:min(end, len(o.value))]
	next := o.offset + len(o.value)
	o.rest = fmt.Sprintf("; bytes %d to %d of %d; next: offset=%d", o.offset, next-1, total, next)
	o.More = tools.NextAt("offset", next)
	return o
}

func storageTool(e *engine) tools.Tool {
	return tools.New(tools.Def[In, Out]{
		Name: "storage", Title: "Keep values by key", Doc: storageDoc, Tags: []string{"state", "data"},
		Access: tools.Write, Effects: tools.State,
		Limits: tools.Limits{Facts: map[string]any{"key": maxKey, "value": textfile.Size(maxValue), "space": textfile.Size(maxSpace)}},
		Spellings: []schema.Spelling{
			schema.Values("operation", map[string]string{
				"set": "put", "write": "put", "save": "put", "store": "put", "update": "put", "read": "get", "load": "get", "fetch": "get",
				"remove": "delete", "del": "delete", "unset": "delete", "keys": "list", "ls": "list", "search": "scan",
			}),
			{Names: []string{"value"}, Read: asJSON},
		},
		Examples: []tools.Example[In]{
			{
				Say:  "Keep a value",
				In:   In{Operation: "put", Key: "builds/main/last", Value: new("4711")},
				Want: "builds/main/last: put, version 1, 4 bytes",
			},
			{
				Say:    "Count, if nobody else has counted",
				Before: e.prepared("jobs/done", "41"),
				In:     In{Operation: "put", Key: "jobs/done", Value: new("42"), ExpectedVersion: new(int64(1))},
				Want:   "jobs/done: put, version 2, 2 bytes",
			},
			{
				Say:    "Read a value",
				Before: e.prepared("jobs/done", "41"),
				In:     In{Operation: "get", Key: "jobs/done"},
				Want:   "jobs/done: version 1, 2 bytes, updated …\n41",
			},
			{
				Say:    "What is there?",
				Before: e.prepared("jobs/done", "41"),
				In:     In{Operation: "scan", Key: "jobs"},
				Want:   "1 entry\n{\"key\":\"jobs/done\",\"value\":\"41\",\"version\":1,\"updated\":\"…\"}",
			},
		},
		Run: e.storage,
	})
}

// asJSON reads a value that is no text as its JSON text.
func asJSON(given map[string]any) (map[string]any, error) {
	if _, isText := given["value"].(string); isText || given["value"] == nil {
		return nil, nil
	}
	text, err := encoded(given["value"])
	return map[string]any{"value": text}, err
}

// prepared returns what puts a value before an example.
func (e *engine) prepared(key, value string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := e.storage(ctx, In{Operation: "put", Key: key, Value: &value, Namespace: "default", Scope: "workspace"})
		return err
	}
}

func (e *engine) storage(ctx context.Context, in In) (Out, error) {
	key, err := keyOf(in)
	if err != nil {
		return Out{}, err
	}
	t, err := e.table(ctx)
	if err != nil {
		return Out{}, err
	}
	s := space{database.OwnerOf(ctx, in.Scope == "user"), in.Namespace}
	switch in.Operation {
	case "put":
		return put(ctx, t, s, key, in)
	case "get":
		return get(ctx, t, s, key, in.Offset)
	case "delete":
		version, err := t.delete(ctx, s, key, in.ExpectedVersion)
		if err != nil {
			return Out{}, err
		}
		if version == 0 {
			return Out{status: tools.Visible(key) + ": was not there"}, nil
		}
		return Out{status: fmt.Sprintf("%s: deleted, it was at version %d", tools.Visible(key), version)}, nil
	}
	return list(ctx, t, s, key, in)
}

// keyOf returns the key of a call in its one form; "" = that of everything.
func keyOf(in In) (string, error) {
	key := strings.TrimPrefix(in.Key, "/")
	lists := in.Operation == "scan" || in.Operation == "list"
	if lists {
		key = strings.TrimSuffix(key, "/")
	}
	bad := func(why string) (string, error) {
		return "", tools.Errorf(tools.InvalidArgument, "/key: %s", why).WithHint("such as builds/main/last")
	}
	switch {
	case key == "" && lists:
		return "", nil
	case key == "":
		return bad(in.Operation + " needs a key")
	case len(key) > maxKey:
		return bad(fmt.Sprintf("it has %d bytes, at most %d", len(key), maxKey))
	case strings.ContainsRune(key, 0):
		return bad("it has a NUL")
	}
	for part := range strings.SplitSeq(key, "/") {
		switch part {
		case "":
			return bad("a part of it is empty")
		case "..", ".":
			return bad("a part of it is " + part)
		}
	}
	return key, nil
}

func put(ctx context.Context, t *table, s space, key string, in In) (Out, error) {
	if in.Value == nil {
		return Out{}, tools.Errorf(tools.InvalidArgument, "/value: put needs a value").WithHint(`"" is an empty one; delete removes a key`)
	}
	if len(*in.Value) > maxValue {
		return Out{}, tools.Errorf(tools.TooLarge, "/value: it has %s, at most %s are kept", textfile.Size(int64(len(*in.Value))), textfile.Size(maxValue)).
			WithHint("write a file, or keep it in parts")
	}
	var ttl time.Duration
	if in.TTL != "" {
		var err error
		if ttl, err = (durations.Argument{Name: "ttl", Least: time.Millisecond, Most: math.MaxInt64}).Read(in.TTL); err != nil {
			return Out{}, err
		}
	}
	e, err := t.put(ctx, s, key, *in.Value, in.ExpectedVersion, ttl)
	if err != nil {
		return Out{}, err
	}
	return Out{status: fmt.Sprintf("%s: put, version %d, %s%s", tools.Visible(key), e.version, textfile.Count(e.size, "byte"), ends(e))}, nil
}

// ends says when an entry expires, "" for never.
func ends(e entry) string {
	if e.expires.IsZero() {
		return ""
	}
	return ", expires " + e.expires.Format(time.RFC3339)
}

func get(ctx context.Context, t *table, s space, key string, offset int) (Out, error) {
	e, err := t.get(ctx, s, key)
	if err != nil {
		return Out{}, err
	}
	out := Out{status: fmt.Sprintf("%s: version %d, %s, updated %s%s", tools.Visible(key), e.version, textfile.Count(e.size, "byte"), e.updated.Format(time.RFC3339), ends(e))}
	if offset > 0 && offset >= e.size {
		return Out{}, tools.Errorf(tools.InvalidArgument, "/offset: %d is past the end: the value has %s", offset, textfile.Count(e.size, "byte"))
	}
	for offset > 0 && !utf8.RuneStart(e.value[offset]) {
		offset-- // a character stays whole
	}
	out.value, out.offset = e.value[offset:], offset
	if offset > 0 {
		out.rest = fmt.Sprintf("; bytes %d to %d", offset, e.size-1)
	}
	return out, nil
}

// line is an entry as scan and list show it.
type line struct {
	Key     string  `json:"key"`
	Value   *string `json:"value,omitempty"`
	Bytes   *int    `json:"bytes,omitempty"`
	Version int64   `json:"version"`
	Updated string  `json:"updated"`
	Expires string  `json:"expires,omitempty"`
}

func list(ctx context.Context, t *table, s space, key string, in In) (Out, error) {
	const room = tools.MaxText - 4_000 // of a page
	longest := 20_000                  // bytes of a value that is shown
	if in.Operation == "list" {
		longest = -1
	}
	entries, more, err := t.list(ctx, s, key, strings.TrimPrefix(in.After, "/"), in.Limit, room, longest)
	if err != nil {
		return Out{}, err
	}
	var b strings.Builder
	shown := 0
	for _, e := range entries {
		l := line{Key: e.key, Version: e.version, Updated: e.updated.Format(time.RFC3339)}
		if !e.expires.IsZero() {
			l.Expires = e.expires.Format(time.RFC3339)
		}
		if l.Bytes = &e.size; e.size <= longest {
			l.Value, l.Bytes = &e.value, nil
		}
		text, err := encoded(l)
		if err != nil {
			return Out{}, err
		}
		if shown > 0 && b.Len()+len(text) > room {
			more = true
			break
		}
		b.WriteString("\n" + text)
		shown++
	}
	out := Out{status: textfile.Count(shown, "entry"), value: strings.TrimPrefix(b.String(), "\n")}
	if more {
		last := entries[shown-1].key
		out.status += "; next: after=" + tools.Visible(last)
		out.More = tools.More{Next: map[string]any{"after": last}}
	}
	return out, nil
}

// encoded returns a value as one line of JSON, in which <, > and & stay as they are.
func encoded(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
