package agents

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
)

//go:embed ask_user.md
var askUserDoc string

// AskUserIn has the questions.
type AskUserIn struct {
	Questions []UserQuestion `json:"questions" jsonschema:"minItems=1,maxItems=4" jsonschema_description:"Questions, shown together."`
	Timeout   string         `json:"timeout,omitempty" unit:"s,ms" jsonschema:"maxLength=20" jsonschema_description:"Wait no longer than, such as \"5m\"; at most 1h."`
}

// UserQuestion is one question to the user.
type UserQuestion struct {
	Header   string       `json:"header,omitempty" jsonschema:"maxLength=60" jsonschema_description:"Its subject in a word or two." alias:"title,label,id"`
	Question string       `json:"question" jsonschema:"minLength=1,maxLength=2000" jsonschema_description:"The whole question." alias:"text,prompt,message"`
	Options  []UserOption `json:"options,omitempty" jsonschema:"minItems=2,maxItems=6" jsonschema_description:"Choices; none for free text." alias:"choices"`
	Multi    bool         `json:"multi,omitempty" jsonschema:"default=false" jsonschema_description:"Any number of the options." alias:"multiSelect,multiple"`
	Free     bool         `json:"free,omitempty" jsonschema:"default=true" jsonschema_description:"The user may write another answer."`
	Default  []string     `json:"default,omitempty" jsonschema:"maxItems=6" jsonschema_description:"Labels that are chosen at first, or the text."`
}

// UserOption is one choice.
type UserOption struct {
	Label       string `json:"label" jsonschema:"minLength=1,maxLength=100" jsonschema_description:"What the answer says." alias:"value,name,title"`
	Description string `json:"description,omitempty" jsonschema:"maxLength=300" jsonschema_description:"What it means or entails."`
}

// AskUserOut is what came of the questions.
type AskUserOut struct {
	Status    string
	Why       string // of a status other than answered
	Questions []UserQuestion
	Answers   [][]string // to each question; nil = none
}

// The statuses.
const (
	statusAnswered  = "answered"
	statusDeclined  = "declined"
	statusCancelled = "cancelled"
	statusLate      = "no answer"
	statusNotAsked  = "not asked"
)

const (
	maxQuestions = 4
	maxUserWait  = time.Hour
	// glance is the least time in which a person closes a form: clients that run without a
	// user close it in a few milliseconds.
	glance = 500 * time.Millisecond
)

func askUserTool(Deps) tools.Tool {
	return tools.New(tools.Def[AskUserIn, AskUserOut]{
		Name: "ask_user", Title: "Ask the user", Doc: askUserDoc, Tags: []string{"clarify", "elicitation"},
		Aliases:   []string{"ask_user_question"},
		Foreign:   []tools.Foreign{{Name: "AskUserQuestion"}, {Name: "ask_question"}},
		Spellings: []schema.Spelling{singleQuestion(), plainOptions()},
		Access:    tools.Read, Effects: tools.None,
		Limits: tools.Limits{Facts: map[string]any{"most": maxQuestions}},
		Examples: []tools.Example[AskUserIn]{{
			Say: "Two questions where nobody can be asked: they come back as text.",
			In: AskUserIn{Questions: []UserQuestion{{
				Header: "Database", Question: "Which database should the service use?", Free: true,
				Options: []UserOption{{Label: "SQLite", Description: "no server, one machine"}, {Label: "PostgreSQL"}}, Default: []string{"SQLite"},
			}, {
				Header: "Port", Question: "On which port should it listen?", Free: true,
			}}},
			Want: "not asked: nobody can be asked in this call; put this to the user in your answer, and end your turn there. Take no answer for granted.\n\n1. Database: Which database should the service use?\n   a) SQLite: no server, one machine (default)\n   b) PostgreSQL\n   or another answer\n2. Port: On which port should it listen?",
		}},
		Run: askUser,
	})
}

// singleQuestion reads the fields of a single question beside questions, as other systems send
// them.
func singleQuestion() schema.Spelling {
	return schema.Spelling{
		Names: []string{"question", "header", "options", "choices", "multiselect", "multiple", "multi", "free", "default"},
		As:    "a single question",
		Read: func(given map[string]any) (map[string]any, error) {
			return map[string]any{"questions": []any{given}}, nil
		},
	}
}

// plainOptions reads texts as options, and a text as a question.
func plainOptions() schema.Spelling {
	labelled := func(v any) any {
		if text, ok := v.(string); ok {
			return map[string]any{"label": text}
		}
		return v
	}
	return schema.Spelling{Names: []string{"questions"}, As: "options with labels", Read: func(given map[string]any) (map[string]any, error) {
		list, ok := given["questions"].([]any)
		if !ok {
			return nil, nil
		}
		found := false
		for i, item := range list {
			q, ok := item.(map[string]any)
			if text, plain := item.(string); plain {
				q, ok, found = map[string]any{"question": text}, true, true
			}
			if !ok {
				return nil, nil
			}
			for _, key := range []string{"options", "choices"} {
				options, _ := q[key].([]any)
				for at, option := range options {
					_, plain := option.(string)
					found = found || plain
					options[at] = labelled(option)
				}
			}
			list[i] = q
		}
		if !found {
			return nil, nil
		}
		return map[string]any{"questions": list}, nil
	}}
}

func askUser(ctx context.Context, in AskUserIn) (AskUserOut, error) {
	if err := ctx.Err(); err != nil {
		return AskUserOut{}, err
	}
	form, err := formOf(in)
	if err != nil {
		return AskUserOut{}, err
	}
	answer, err := tools.Ask(ctx, form)
	out := AskUserOut{Questions: in.Questions}
	if e, ok := err.(*tools.Error); ok && e.Code == tools.Unavailable {
		out.Status, out.Why = statusNotAsked, e.Msg
		return out, nil
	}
	if err != nil {
		return AskUserOut{}, err
	}
	switch {
	case answer.Action == tools.Accept:
		out.Status = statusAnswered
		out.Answers = answersOf(in.Questions, answer.Values)
	case form.Wait > 0 && answer.After >= form.Wait:
		out.Status, out.Why = statusLate, "the form was open for "+durations.Exact(form.Wait)
	case answer.After < glance:
		out.Status = statusNotAsked
		out.Why = fmt.Sprintf("the client closed the form after %s, sooner than a person can read it", durations.Rough(answer.After))
	case answer.Action == tools.Decline:
		out.Status, out.Why = statusDeclined, "the user does not want to answer; go on without, or stop and say what you need"
	default:
		out.Status, out.Why = statusCancelled, "the form was closed without an answer; take none for granted"
	}
	return out, ctx.Err()
}

// formOf returns the questions as one form.
func formOf(in AskUserIn) (tools.Form, error) {
	wait, err := durations.Argument{Name: "timeout", Least: time.Second, Most: maxUserWait}.Read(in.Timeout)
	if in.Timeout == "" {
		wait, err = 0, nil
	}
	if err != nil {
		return tools.Form{}, err
	}
	form := tools.Form{Wait: wait}
	var asked []string
	for i, q := range in.Questions {
		if err := q.check(i); err != nil {
			return tools.Form{}, err
		}
		title := q.Header
		if title == "" {
			title = "Answer"
		}
		about := ""
		if len(in.Questions) > 1 {
			title, about = fmt.Sprintf("%d. %s", i+1, title), q.Question
			asked = append(asked, fmt.Sprintf("%d. %s", i+1, q.Question))
		} else {
			asked = append(asked, q.Question)
		}
		form.Fields = append(form.Fields, q.fields(i, title, about)...)
	}
	form.Message = strings.Join(asked, "\n")
	return form, nil
}

// check returns what is wrong with a question.
func (q UserQuestion) check(i int) error {
	wrong := func(field, format string, args ...any) error {
		return tools.Errorf(tools.InvalidArgument, "/questions/%d/%s: %s", i, field, fmt.Sprintf(format, args...))
	}
	labels := q.labels()
	for n, label := range labels {
		if slices.Contains(labels[:n], label) {
			return wrong("options", "two options are called %q", label)
		}
	}
	switch {
	case len(q.Default) > 1 && !q.Multi:
		return wrong("default", "%d values for a question with one answer; give one, or set multi", len(q.Default))
	case q.Multi && len(labels) == 0:
		return wrong("multi", "it needs options to choose from")
	case !q.Free && len(labels) == 0:
		return wrong("free", "false needs options to choose from")
	}
	for _, value := range q.Default {
		if len(labels) > 0 && !slices.Contains(labels, value) {
			return wrong("default", "no option is called %q", value)
		}
	}
	return nil
}

func (q UserQuestion) labels() []string {
	labels := make([]string, len(q.Options))
	for i, o := range q.Options {
		labels[i] = o.Label
	}
	return labels
}

// The names of the fields of a question.
func answerField(i int) string { return fmt.Sprintf("answer_%d", i+1) }
func otherField(i int) string  { return answerField(i) + "_other" }

// fields returns the fields of a question: its choices and, if the user may write, a text.
func (q UserQuestion) fields(i int, title, about string) []tools.FormField {
	f := tools.FormField{Name: answerField(i), Title: title, Description: about, Type: "string"}
	var initial any
	switch {
	case q.Multi && q.Default != nil:
		initial = q.Default
	case len(q.Default) > 0:
		initial = q.Default[0]
	}
	if initial != nil {
		f.Default, _ = json.Marshal(initial) // texts
	}
	if len(q.Options) == 0 {
		return []tools.FormField{f}
	}
	f.Choices, f.Many, f.Required = q.labels(), q.Multi, !q.Free && !q.Multi
	for _, o := range q.Options {
		label := o.Label
		if o.Description != "" {
			label += ": " + o.Description
		}
		f.Labels = append(f.Labels, label)
	}
	if !q.Free {
		return []tools.FormField{f}
	}
	return []tools.FormField{f, {
		Name: otherField(i), Title: title + ": other", Type: "string",
		Description: "in your own words, beside a choice or in its place",
	}}
}

// answersOf reads the answers to the questions: what was chosen, then what was written.
func answersOf(questions []UserQuestion, values map[string]json.RawMessage) [][]string {
	answers := make([][]string, len(questions))
	for i, q := range questions {
		var one string
		raw, given := values[answerField(i)]
		if q.Multi && given {
			answers[i] = []string{}
			_ = json.Unmarshal(raw, &answers[i]) // what is no list is no choice
		} else if json.Unmarshal(raw, &one) == nil && strings.TrimSpace(one) != "" {
			answers[i] = []string{one}
		}
		var other string
		if json.Unmarshal(values[otherField(i)], &other) == nil && strings.TrimSpace(other) != "" {
			answers[i] = append(answers[i], other)
		}
	}
	return answers
}

// Text is the status, and the answers or, if nobody was asked, the questions for the user.
func (o AskUserOut) Text() string {
	var b strings.Builder
	b.WriteString(o.Status)
	if o.Why != "" {
		b.WriteString(": " + o.Why)
	}
	switch o.Status {
	case statusAnswered:
		for i, q := range o.Questions {
			fmt.Fprintf(&b, "\n%d. %s: %s", i+1, q.name(), q.words(o.Answers[i]))
		}
	case statusNotAsked:
		b.WriteString("; put this to the user in your answer, and end your turn there. Take no answer for granted.\n")
		for i, q := range o.Questions {
			b.WriteString(q.plain(i))
		}
	}
	return b.String()
}

// name is the header of a question, or the question.
func (q UserQuestion) name() string {
	if q.Header != "" {
		return q.Header
	}
	return q.Question
}

// words puts an answer in one text: labels as they are, other words quoted.
func (q UserQuestion) words(answer []string) string {
	if answer == nil {
		return "no answer"
	}
	if len(answer) == 0 {
		return "none of the options"
	}
	labels := q.labels()
	said := make([]string, len(answer))
	for i, text := range answer {
		said[i] = text
		if len(labels) > 0 && !slices.Contains(labels, text) {
			said[i] = "in the user's words: " + text
		}
	}
	return strings.Join(said, "; ")
}

// plain is a question as text for the user.
func (q UserQuestion) plain(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d. ", i+1)
	if q.Header != "" {
		b.WriteString(q.Header + ": ")
	}
	b.WriteString(q.Question)
	if q.Multi {
		b.WriteString(" (any number)")
	}
	for n, o := range q.Options {
		fmt.Fprintf(&b, "\n   %c) %s", 'a'+n, o.Label)
		if o.Description != "" {
			b.WriteString(": " + o.Description)
		}
		if slices.Contains(q.Default, o.Label) {
			b.WriteString(" (default)")
		}
	}
	switch {
	case len(q.Options) > 0 && q.Free:
		b.WriteString("\n   or another answer")
	case len(q.Options) == 0 && len(q.Default) > 0:
		b.WriteString(" (default: " + q.Default[0] + ")")
	}
	return b.String()
}
