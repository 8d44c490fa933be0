package memory

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/memory/internal/notes"
)

//go:embed memory_write.md
var memoryWriteDoc string

// WriteIn is a memory.
type WriteIn struct {
	Content         string   `json:"content" jsonschema_description:"What to remember, understandable by itself." jsonschema:"minLength=1" record:"digest" alias:"text,memory,fact,value,note"`
	Topic           string   `json:"topic,omitempty" jsonschema_description:"Short title, which names the memory; default its first line." jsonschema:"maxLength=200" alias:"title,name,key,subject"`
	Tags            []string `json:"tags,omitempty" jsonschema_description:"Words to find it by." jsonschema:"maxItems=20" alias:"tag,labels,keywords"`
	Scope           string   `json:"scope,omitempty" jsonschema_description:"workspace = of this root, user = of all roots." jsonschema:"enum=workspace,enum=user,default=workspace"`
	Expires         string   `json:"expires,omitempty" unit:"s,s" jsonschema_description:"When it ends: a duration such as \"30d\", or a time such as 2027-01-31." jsonschema:"maxLength=40" alias:"ttl,expires_at,expires_in"`
	Supersedes      []string `json:"supersedes,omitempty" jsonschema_description:"IDs of memories that it replaces." jsonschema:"maxItems=50" alias:"replaces"`
	ExpectedVersion *int64   `json:"expected_version,omitempty" jsonschema_description:"Only if the topic has this version; 0 = it must not exist." jsonschema:"minimum=0,maximum=9007199254740991" alias:"if_version"`
}

// WriteOut is what was written.
type WriteOut struct{ change }

// Text implements [tools.Texter].
func (o WriteOut) Text() string {
	verb := "written"
	switch {
	case o.same:
		verb = "unchanged"
	case o.old != nil:
		verb = "new version"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: [%s] %s, version %d, %s, created %s, updated %s", verb, o.note.ID, tools.Visible(o.note.Topic), o.note.Version,
		textfile.Count(len(o.note.Content), "byte"), o.note.Created.Format(time.RFC3339), o.note.Updated.Format(time.RFC3339))
	if !o.note.Expires.IsZero() {
		b.WriteString(", expires " + o.note.Expires.Format(time.RFC3339))
	}
	if o.scope == ofUser {
		b.WriteString(", scope user")
	}
	if o.old != nil && !o.same {
		fmt.Fprintf(&b, "\nreplaces version %d of %s, by %s", o.old.Version, o.old.Updated.Format(time.RFC3339), tools.Visible(o.old.Author))
	}
	if len(o.similar) > 0 {
		b.WriteString("\nsimilar:")
	}
	for _, s := range o.similar {
		kind := "related"
		if s.duplicate {
			kind = "near duplicate"
		}
		fmt.Fprintf(&b, "\n  %s: [%s] %s", kind, s.ID, tools.Visible(s.Topic))
	}
	return b.String()
}

func memoryWriteTool(l *library) tools.Tool {
	return tools.New(tools.Def[WriteIn, WriteOut]{
		Name: "memory_write", Title: "Remember something", Doc: memoryWriteDoc, Tags: []string{"memory", "state"},
		Access: tools.Write, Effects: tools.State, Repeatable: true,
		Limits: tools.Limits{Facts: map[string]any{"content": textfile.Size(maxContent), "notes": maxNotes}},
		Examples: []tools.Example[WriteIn]{
			{
				Say:  "Remember a decision",
				In:   WriteIn{Topic: "Release day", Content: "Releases are made on Tuesdays, so that a bad one is mended within the week.", Tags: []string{"release"}},
				Want: "written: […] Release day, version 1, 75 bytes, created …, updated …",
			},
			{
				Say:    "It has changed",
				Before: l.prepared("Release day", "Releases are made on Tuesdays."),
				In:     WriteIn{Topic: "Release day", Content: "Releases are made on Mondays since May 2026."},
				Want:   "new version: […] Release day, version 2, 44 bytes, created …, updated …\nreplaces version 1 of …, by …",
			},
		},
		Run: l.write,
	})
}

func (l *library) write(ctx context.Context, in WriteIn) (WriteOut, error) {
	content := strings.TrimSpace(strings.ReplaceAll(in.Content, "\r\n", "\n")) // as a file is read
	topic := strings.Join(strings.Fields(in.Topic), " ")
	if topic == "" {
		topic = notes.FirstLine(content)
	}
	switch {
	case content == "" || topic == "":
		return WriteOut{}, tools.Errorf(tools.InvalidArgument, "/content: it is empty").WithHint("memory_delete removes a memory")
	case len(content) > maxContent:
		return WriteOut{}, tools.Errorf(tools.TooLarge, "/content: it has %s, at most %s are kept", textfile.Size(int64(len(content))), textfile.Size(maxContent)).
			WithHint("write a file, and remember where it is")
	}
	now := time.Now().UTC().Truncate(time.Second)
	expires, err := expiry(in.Expires, now)
	if err != nil {
		return WriteOut{}, err
	}
	if err := l.refuseSecrets(append([]string{topic, content}, in.Tags...)...); err != nil {
		return WriteOut{}, err
	}
	done, err := l.remember(ctx, in.Scope, func(set *notes.Set) (*notes.Note, *notes.Note, error) {
		old := named(set, topic)
		if err := expect(topic, old, in.ExpectedVersion); err != nil {
			return nil, nil, err
		}
		n := &notes.Note{Topic: topic, Content: content, Tags: cleaned(in.Tags), Expires: expires, Updated: now, Created: now, Version: 1, Author: author(ctx)}
		for _, id := range in.Supersedes {
			id = strings.ToLower(strings.Trim(id, "[] "))
			if set.Find(id) == nil {
				return nil, nil, tools.Errorf(tools.NotFound, "/supersedes: the scope has no memory with the ID %s", tools.Clip(id)).WithHint("memory_search finds memories")
			}
			n.Supersedes = append(n.Supersedes, id)
		}
		if old == nil {
			if err := room(set, 1); err != nil {
				return nil, nil, err
			}
			n.ID = newID(set)
			return n, nil, nil
		}
		n.ID, n.Version, n.Created = old.ID, old.Version+1, old.Created
		if in.Tags == nil {
			n.Tags = old.Tags
		}
		for _, id := range old.Supersedes {
			if !slices.Contains(n.Supersedes, id) {
				n.Supersedes = append(n.Supersedes, id)
			}
		}
		n.Supersedes = slices.DeleteFunc(n.Supersedes, func(id string) bool { return id == n.ID })
		return n, old, nil
	})
	return WriteOut{done}, err
}

// expect refuses a topic whose version is not the expected one; nil expects any.
func expect(topic string, old *notes.Note, expected *int64) error {
	switch {
	case expected == nil, old == nil && *expected == 0, old != nil && *expected == old.Version:
		return nil
	case old == nil:
		return tools.Errorf(tools.Conflict, "no memory has the topic %s, so its version is not %d", tools.Visible(topic), *expected).WithHint("expected_version=0 writes it")
	}
	return tools.Errorf(tools.Conflict, "%s is at version %d, not %d", tools.Visible(topic), old.Version, *expected).WithHint("memory_read ids=[%q] shows it; merge, and write with its version", old.ID)
}

// cleaned returns tags without blanks around them and each once; nil for none.
func cleaned(tags []string) (list []string) {
	for _, tag := range tags {
		if tag = strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimSpace(tag), "#")), " "); tag != "" && !slices.Contains(list, tag) {
			list = append(list, tag)
		}
	}
	return list[:min(len(list), maxTags)]
}

// expiry reads when a memory ends: a duration or a time; zero for "".
func expiry(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	at := time.Time{}
	if d, err := durations.Parse(strings.ReplaceAll(text, " ", "")); err == nil {
		at = now.Add(d)
	} else if at, err = instant(text); err != nil {
		return time.Time{}, tools.Errorf(tools.InvalidArgument, "/expires: %q is neither a duration nor a time", tools.Clip(text)).WithHint(`such as "30d", "12h", 2027-01-31 or 2027-01-31T12:00:00Z`)
	}
	if !at.After(now) {
		return time.Time{}, tools.Errorf(tools.InvalidArgument, "/expires: %s is past", at.Format(time.RFC3339)).WithHint("leave it out for a memory that stays")
	}
	return at.UTC().Truncate(time.Second), nil
}
