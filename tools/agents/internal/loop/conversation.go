package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/agents/internal/model"
)

// state is what the records of a run say.
type state struct {
	records  []Record
	messages []model.Message
	spent    Spent
	// open are the calls of the last turn that have no result, in order.
	open  []*model.Call
	begun map[string]Record // by the ID of the call
	last  *Record           // the last turn
	// fresh is the last turn until it is decided what it means.
	fresh *Record
	final string // the limit that makes the next turn the last
	// tokens is the size of the conversation as the last turn's endpoint counted it.
	tokens, counted int // counted: messages that it counted
	ended           *Record
	hinted          map[string]bool // by what a hint is about
	wrong           int             // results that did not fit or were missing
	task            []model.Block   // what was said before the first turn
}

// read makes the state of records.
func read(records []Record) *state {
	s := &state{begun: map[string]Record{}, hinted: map[string]bool{}}
	for _, r := range records {
		s.add(r)
	}
	return s
}

// add takes one more record.
func (s *state) add(r Record) {
	if n := len(s.records); n > 0 && s.records[n-1].Kind != End && r.Kind != Taken {
		s.spent.Time += r.At.Sub(s.records[n-1].At)
	}
	s.records = append(s.records, r)
	s.ended = nil
	if r.Kind != Taken {
		s.fresh = nil
	}
	switch r.Kind {
	case Said:
		s.final = ""
		s.say(model.User, model.Block{Text: r.Text})
		if s.last == nil {
			s.task = append(s.task, model.Block{Text: r.Text})
		}
	case Hint:
		s.hinted[r.Tool] = true
		if r.Tool == submit {
			s.wrong++
		}
		s.say(model.User, model.Block{Text: r.Text})
	case Final:
		s.final = r.Tool
		s.say(model.User, model.Block{Text: r.Text})
	case Turn:
		s.messages = append(s.messages, model.Message{Role: model.Assistant, Blocks: r.Blocks})
		s.last, s.fresh = &r, &r
		s.open = nil
		for _, b := range r.Blocks {
			if b.Call != nil {
				s.open = append(s.open, b.Call)
			}
		}
		s.spent.Rounds++
		s.spend(r)
		s.tokens, s.counted = r.Size, len(s.messages)
	case Dropped:
		s.spend(r)
	case Begin:
		s.begun[r.Call] = r
	case Result:
		s.spend(r)
		if r.Tool == submit && r.Error {
			s.wrong++
		}
		s.say(model.User, model.Block{Result: &model.Result{ID: r.Call, Text: r.Text, Error: r.Error}})
		for i, c := range s.open {
			if c.ID == r.Call {
				s.open = append(s.open[:i:i], s.open[i+1:]...)
				break
			}
		}
	case Taken:
		s.spend(r)
	case Compact:
		s.shorten()
	case Summary:
		s.summarize(r)
	case End:
		s.ended = &r
	}
}

// say adds a block to the last message if it is of the same role.
func (s *state) say(role model.Role, b model.Block) {
	if n := len(s.messages); n > 0 && s.messages[n-1].Role == role {
		m := &s.messages[n-1]
		m.Blocks = append(slices.Clip(m.Blocks), b)
		return
	}
	s.messages = append(s.messages, model.Message{Role: role, Blocks: []model.Block{b}})
}

// mostKept is how long a result may be that is kept when others are shortened.
const mostKept = 400

// shorten replaces long results by a line. Those of the last turn with results stay.
func (s *state) shorten() {
	for i, m := range s.messages {
		if i >= s.keepFrom() {
			break
		}
		var blocks []model.Block
		for _, b := range m.Blocks {
			if b.Result != nil && len(b.Result.Text) > mostKept {
				short := *b.Result
				short.Text = fmt.Sprintf("[%d characters were here; to save room they are left out: call the tool again if you need them]", utf8.RuneCountInString(b.Result.Text))
				b = model.Block{Result: &short}
			}
			blocks = append(blocks, b)
		}
		s.messages[i].Blocks = blocks
	}
	s.tokens, s.counted = 0, 0
}

// keepFrom is the message from which on nothing is shortened: the last answer and what follows.
func (s *state) keepFrom() int {
	for i := len(s.messages) - 1; i > 0; i-- {
		if s.messages[i].Role == model.Assistant {
			return i
		}
	}
	return len(s.messages)
}

// summarize puts a summary in the place of everything between the task and the last answer.
func (s *state) summarize(r Record) {
	rest := s.messages[s.keepFrom():]
	s.messages = append([]model.Message{{Role: model.User, Blocks: append(slices.Clip(s.task),
		model.Block{Text: "Summary of what was done so far:\n" + r.Text})}}, rest...)
	s.tokens, s.counted = 0, 0
	s.spend(r)
}

func (s *state) spend(r Record) {
	if r.Use != nil {
		s.spent.Use = s.spent.Use.Add(*r.Use)
	}
	s.spent.Cost += r.Cost
}

// size estimates the tokens of the conversation.
func (s *state) size() int {
	n := s.tokens
	for _, m := range s.messages[min(s.counted, len(s.messages)):] {
		text, err := json.Marshal(m)
		if err == nil {
			n += model.Estimate(string(text))
		}
	}
	return n
}

// text returns what the model said last, of the newest turn that has text.
func (s *state) text() string {
	for _, r := range slices.Backward(s.records) {
		if text := textOf(r.Blocks); r.Kind == Turn && text != "" {
			return text
		}
	}
	return ""
}

func textOf(blocks []model.Block) string {
	var text strings.Builder
	for _, b := range blocks {
		text.WriteString(b.Text)
	}
	return text.String()
}
