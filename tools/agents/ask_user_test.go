package agents_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/internal/tooltest"
)

// user answers a form.
type user func(form tools.Form) (tools.Answer, error)

// Ask implements [tools.Asker].
func (u user) Ask(_ context.Context, forms ...tools.Form) ([]tools.Answer, error) {
	answer, err := u(forms[0])
	return []tools.Answer{answer}, err
}

func ask(t *testing.T, args string, u user) (string, error) {
	t.Helper()
	ws, _ := tooltest.Tree(t, nil)
	ctx := tools.WithAsker(t.Context(), u)
	res, err := tooltest.Call(ctx, ws, agents.Tools(agents.Deps{})[0], json.RawMessage(args))
	return tooltest.Text(res), err
}

const several = `{"questions":[
	{"header":"Colour","question":"Which colour?","options":[{"label":"Red","description":"warm"},{"label":"Blue"}],"default":"Blue"},
	{"header":"Parts","question":"Which parts?","multiSelect":true,"free":false,"options":["a, b","c"],"default":["c"]},
	{"question":"What name?","default":"x"},
	{"header":"Sure","question":"Sure?","options":["Yes","No"],"free":false}]}`

func TestForm(t *testing.T) {
	choice := func(list ...string) []string { return list }
	want := tools.Form{
		Message: "1. Which colour?\n2. Which parts?\n3. What name?\n4. Sure?",
		Fields: []tools.FormField{
			{
				Name: "answer_1", Title: "1. Colour", Description: "Which colour?", Type: "string",
				Choices: choice("Red", "Blue"), Labels: choice("Red: warm", "Blue"), Default: json.RawMessage(`"Blue"`),
			},
			{Name: "answer_1_other", Title: "1. Colour: other", Description: "in your own words, beside a choice or in its place", Type: "string"},
			{
				Name: "answer_2", Title: "2. Parts", Description: "Which parts?", Type: "string", Many: true,
				Choices: choice("a, b", "c"), Labels: choice("a, b", "c"), Default: json.RawMessage(`["c"]`),
			},
			{Name: "answer_3", Title: "3. Answer", Description: "What name?", Type: "string", Default: json.RawMessage(`"x"`)},
			{
				Name: "answer_4", Title: "4. Sure", Description: "Sure?", Type: "string", Required: true,
				Choices: choice("Yes", "No"), Labels: choice("Yes", "No"),
			},
		},
	}
	var got tools.Form
	if _, err := ask(t, several, func(f tools.Form) (tools.Answer, error) {
		got = f
		return tools.Answer{Action: tools.Decline}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	if _, err := ask(t, `{"question":"Go?","timeout":"20m"}`, func(f tools.Form) (tools.Answer, error) {
		got = f
		return tools.Answer{Action: tools.Decline}, nil
	}); err != nil {
		t.Fatal(err)
	}
	want = tools.Form{Message: "Go?", Wait: 20 * time.Minute, Fields: []tools.FormField{{Name: "answer_1", Title: "Answer", Type: "string"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a single question (-want +got):\n%s", diff)
	}
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values string
		want   string
	}{
		{"all", `{"answer_1":"Red","answer_1_other":"","answer_2":["a, b","c"],"answer_3":"toolcrib","answer_4":"No"}`,
			"answered\n1. Colour: Red\n2. Parts: a, b; c\n3. What name?: toolcrib\n4. Sure: No"},
		{"a choice and other words", `{"answer_1":"Red","answer_1_other":"but darker; or Blue","answer_2":[],"answer_4":"Yes"}`,
			"answered\n1. Colour: Red; in the user's words: but darker; or Blue\n2. Parts: none of the options\n3. What name?: no answer\n4. Sure: Yes"},
		{"other words alone", `{"answer_1":"","answer_1_other":"green","answer_2":["c"],"answer_3":" ","answer_4":"Yes"}`,
			"answered\n1. Colour: in the user's words: green\n2. Parts: c\n3. What name?: no answer\n4. Sure: Yes"},
		{"nothing", `{}`, "answered\n1. Colour: no answer\n2. Parts: no answer\n3. What name?: no answer\n4. Sure: no answer"},
		{"other types", `{"answer_1":7,"answer_2":"c","answer_3":{"a":1}}`, "answered\n1. Colour: no answer\n2. Parts: none of the options\n3. What name?: no answer\n4. Sure: no answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ask(t, several, func(tools.Form) (tools.Answer, error) {
				a := tools.Answer{Action: tools.Accept}
				return a, json.Unmarshal([]byte(tt.values), &a.Values)
			})
			if _, rest, mended := strings.Cut(got, "\nanswered"); mended {
				got = "answered" + rest
			}
			if err != nil || got != tt.want {
				t.Errorf("got\n%s\n%v\nwant\n%s", got, err, tt.want)
			}
		})
	}
}

// Whoever does not answer is told apart, and no answer is made up.
func TestUnanswered(t *testing.T) {
	const text = "; put this to the user in your answer, and end your turn there. Take no answer for granted.\n\n1. Go on? (default: yes)"
	for _, tt := range []struct {
		name   string
		answer tools.Answer
		err    error
		want   string
	}{
		{"declined", tools.Answer{Action: tools.Decline, After: time.Minute}, nil, "declined: the user does not want to answer; go on without, or stop and say what you need"},
		{"closed", tools.Answer{Action: tools.Cancel, After: time.Minute}, nil, "cancelled: the form was closed without an answer; take none for granted"},
		{"declined by a client without a user", tools.Answer{Action: tools.Decline, After: 4 * time.Millisecond}, nil, "not asked: the client closed the form after 4 ms, sooner than a person can read it" + text},
		{"closed by a client without a user", tools.Answer{Action: tools.Cancel, After: 4 * time.Millisecond}, nil, "not asked: the client closed the form after 4 ms, sooner than a person can read it" + text},
		{"late", tools.Answer{Action: tools.Cancel, After: 30 * time.Minute}, nil, "no answer: the form was open for 30m"},
		{"no forms", tools.Answer{}, tools.Errorf(tools.Unavailable, "this client cannot show a form"), "not asked: this client cannot show a form" + text},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ask(t, `{"questions":[{"question":"Go on?","default":["yes"]}],"timeout":"30m"}`, func(tools.Form) (tools.Answer, error) { return tt.answer, tt.err })
			if err != nil || got != tt.want {
				t.Errorf("got\n%s\n%v\nwant\n%s", got, err, tt.want)
			}
		})
	}
	changed := tools.Errorf(tools.Conflict, "the question has changed")
	if _, err := ask(t, `{"question":"Go on?"}`, func(tools.Form) (tools.Answer, error) { return tools.Answer{}, changed }); tools.AsError(err).Code != tools.Conflict {
		t.Errorf("another error: %v", err)
	}
}

func TestWrongQuestions(t *testing.T) {
	for args, want := range map[string]string{
		`{"questions":[{"question":"A?","options":["x","x"]}]}`:                     `/questions/0/options: two options are called "x"`,
		`{"questions":[{"question":"A?","options":["x","y"],"default":"z"}]}`:       `/questions/0/default: no option is called "z"`,
		`{"questions":[{"question":"A?","options":["x","y"],"default":["x","y"]}]}`: `/questions/0/default: 2 values`,
		`{"questions":[{"question":"A?"},{"question":"B?","multi":true}]}`:          `/questions/1/multi: it needs options`,
		`{"questions":[{"question":"A?","free":false}]}`:                            `/questions/0/free: false needs options`,
		`{"questions":[{"question":"A?","options":["x"]}]}`:                         `/questions/0/options`,
		`{"questions":[]}`:                           `/questions`,
		`{"question":"A?","timeout":"2h"}`:           `timeout`,
		`{"questions":["a?","b?","c?","d?","e?"]}`:   `/questions`,
		`{"questions":[{"question":"A?","opts":1}]}`: `/questions/0/opts`,
	} {
		_, err := ask(t, args, func(tools.Form) (tools.Answer, error) { return tools.Answer{Action: tools.Accept}, nil })
		if e := tools.AsError(err); e == nil || e.Code != tools.InvalidArgument || !strings.Contains(e.Msg, want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
