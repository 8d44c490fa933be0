package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/runs"
	"toolcrib/tools/internal/durations"
)

// receipt is what a run has done besides reading, and what it has used, by its records alone:
// whichever processes have worked on it.
type receipt struct {
	Files []string   `json:"files,omitempty"` // changed
	Ran   []string   `json:"ran,omitempty"`   // programs, by the command
	Hosts []string   `json:"hosts,omitempty"` // reached
	Calls []string   `json:"calls,omitempty"` // others that may have had effects
	Spent loop.Spent `json:"spent"`
}

// receiptOf returns the sum of the records of a run.
func receiptOf(records []loop.Record) receipt {
	files, hosts := map[string]bool{}, map[string]bool{}
	ran, calls := map[string]int{}, map[string]int{}
	begun, arguments := map[string]loop.Record{}, map[string]json.RawMessage{}
	for _, r := range records {
		for _, block := range r.Blocks {
			if block.Call != nil {
				arguments[block.Call.ID] = block.Call.Arguments
			}
		}
		for _, path := range r.Files {
			files[path] = true
		}
		for _, host := range r.Hosts {
			hosts[host] = true
		}
		for _, command := range r.Ran {
			ran[command]++
		}
		switch r.Kind {
		case loop.Begin:
			begun[r.Call] = r
		case loop.Result:
			if _, is := begun[r.Call]; is && len(r.Files)+len(r.Ran)+len(r.Hosts) == 0 {
				what := called(r.Tool, arguments[r.Call])
				if r.Error {
					what += " (failed)"
				}
				calls[what]++
			}
			delete(begun, r.Call)
		}
	}
	for id, r := range begun {
		calls[called(r.Tool, arguments[id])+" (its outcome is unknown)"]++
	}
	return receipt{slices.Sorted(maps.Keys(files)), timesEach(ran), slices.Sorted(maps.Keys(hosts)), timesEach(calls), loop.Sum(records)}
}

// lost returns what agents have done and used that a run had called when its process was killed:
// their own records have it.
func lost(store *runs.Store, run, principal string) func(context.Context, []loop.Record) (loop.Record, error) {
	return func(ctx context.Context, begun []loop.Record) (sum loop.Record, _ error) {
		all, err := store.List(ctx, principal, math.MaxInt32)
		if err != nil {
			return sum, err
		}
		for _, child := range all {
			s, err := specOf(child)
			if err != nil {
				return sum, err
			}
			if s.Of != run {
				continue
			}
			records, err := store.Records(ctx, child.ID, 0)
			if err != nil {
				return sum, err
			}
			records = slices.DeleteFunc(records, func(r loop.Record) bool { return r.At.Before(begun[0].At) })
			if len(records) == 0 {
				continue
			}
			r := receiptOf(records)
			sum.Files, sum.Hosts = append(sum.Files, r.Files...), append(sum.Hosts, r.Hosts...)
			for _, record := range records {
				sum.Ran = append(sum.Ran, record.Ran...)
			}
			use := r.Spent.Use
			if sum.Use != nil {
				use = use.Add(*sum.Use)
			}
			sum.Use, sum.Cost = &use, sum.Cost+r.Spent.Cost
			sum.Text += fmt.Sprintf("what its agent %s had done by then counts\n", child.ID)
		}
		return sum, nil
	}
}

// called is a call in a line.
func called(tool string, arguments json.RawMessage) string {
	return strings.TrimSpace(tool + " " + subject(arguments))
}

func timesEach(count map[string]int) []string {
	list := slices.Sorted(maps.Keys(count))
	for i, what := range list {
		if n := count[what]; n > 1 {
			list[i] = fmt.Sprintf("%s (%d times)", what, n)
		}
	}
	return list
}

// used is what a run has used, in a line.
func (r receipt) used() string {
	use := r.Spent.Use
	tokens := fmt.Sprintf("%d tokens", use.Total())
	if use.Estimated {
		tokens = "about " + tokens
	}
	if cached := use.CacheRead; cached > 0 {
		tokens += fmt.Sprintf(" (%d of the provider's cache)", cached)
	}
	return fmt.Sprintf("%s, %s, %s%s", counted(r.Spent.Rounds, "round"), tokens, durations.Rough(r.Spent.Time), cost(r.Spent))
}

func cost(s loop.Spent) string {
	if s.Cost == 0 {
		return ""
	}
	return fmt.Sprintf(", cost %.4g", s.Cost)
}

// done is what a run has done, a line for each kind.
func (r receipt) done() string {
	const most = 20
	var b strings.Builder
	for _, kind := range []struct {
		what string
		list []string
	}{{"changed", r.Files}, {"ran", r.Ran}, {"reached", r.Hosts}, {"called", r.Calls}} {
		if len(kind.list) == 0 {
			continue
		}
		more := ""
		if len(kind.list) > most {
			more = fmt.Sprintf(" and %d more", len(kind.list)-most)
		}
		fmt.Fprintf(&b, "%s: %s%s\n", kind.what, tools.Visible(strings.Join(kind.list[:min(len(kind.list), most)], ", ")), more)
	}
	return b.String()
}
