package loop_test

import (
	"errors"
	"strings"
	"testing"

	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
)

// replays fails the test unless records can be replayed, each as it is, to the same sum.
func replays(t *testing.T, records []loop.Record) {
	t.Helper()
	seen := 0
	var last loop.Spent
	err := loop.Replay(records, func(n int, r loop.Record, spent loop.Spent) error {
		if n != seen || r.Kind != records[n].Kind || spent.Rounds < last.Rounds {
			t.Errorf("step %d is %s with %+v after %+v", n, r.Kind, spent, last)
		}
		seen, last = seen+1, spent
		return nil
	})
	if err != nil || seen != len(records) || last != loop.Sum(records) {
		t.Errorf("%d of %d steps, %+v: %v", seen, len(records), last, err)
	}
}

// Records that the loop cannot have written are told.
func TestReplayContradictions(t *testing.T) {
	said := loop.Record{Kind: loop.Said, Text: "t"}
	calls := loop.Record{Kind: loop.Turn, Blocks: []model.Block{{Call: &model.Call{ID: "c", Name: "do"}}}}
	hi := loop.Record{Kind: loop.Turn, Blocks: []model.Block{{Text: "hi"}}}
	result := loop.Record{Kind: loop.Result, Call: "c", Tool: "do"}
	end := loop.Record{Kind: loop.End, Status: loop.Completed}
	for want, records := range map[string][]loop.Record{
		"step 0, turn: nobody has said a task":                        {hi},
		"step 2, turn: call c has no result":                          {said, calls, hi},
		"step 1, result: call c was not wanted, or has its result":    {said, result},
		"step 3, begin: call c was not wanted, or has its result":     {said, calls, result, {Kind: loop.Begin, Call: "c"}},
		"step 3, turn: the run had ended, and nobody went on with it": {said, hi, end, hi},
	} {
		err := loop.Replay(records, func(int, loop.Record, loop.Spent) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	enough := errors.New("enough")
	if err := loop.Replay([]loop.Record{said, hi}, func(int, loop.Record, loop.Spent) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}
