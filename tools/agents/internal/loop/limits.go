package loop

import (
	"fmt"
	"time"

	"toolcrib/tools/agents/internal/model"
)

// Limits bound a run. A field of 0 is no limit.
type Limits struct {
	Rounds int           `json:"rounds,omitempty"` // turns of the model
	Tokens int           `json:"tokens,omitempty"` // read anew and written
	Cost   float64       `json:"cost,omitempty"`
	Time   time.Duration `json:"time,omitempty"` // in which the run is at work
}

// Spent is what a run has used.
type Spent struct {
	Rounds int           `json:"rounds"`
	Use    model.Use     `json:"tokens"`
	Cost   float64       `json:"cost,omitempty"`
	Time   time.Duration `json:"time"`
}

// After returns limits that allow as much as l after what was spent.
func (l Limits) After(s Spent) Limits {
	add := func(limit, spent int) int {
		if limit == 0 {
			return 0
		}
		return limit + spent
	}
	l.Rounds, l.Tokens = add(l.Rounds, s.Rounds), add(l.Tokens, fresh(s.Use))
	l.Time = time.Duration(add(int(l.Time), int(s.Time)))
	if l.Cost != 0 {
		l.Cost += s.Cost
	}
	return l
}

// Shared returns the limits that an agent shares with those that it calls.
func (l Limits) Shared() Limits { return Limits{Tokens: l.Tokens, Cost: l.Cost} }

// Within returns limits that allow no more than what is left of shared ones that are not reached.
func (l Limits) Within(of Limits, s Spent) Limits {
	if left := of.Tokens - fresh(s.Use); of.Tokens > 0 && (l.Tokens == 0 || l.Tokens > left) {
		l.Tokens = left
	}
	if left := of.Cost - s.Cost; of.Cost > 0 && (l.Cost == 0 || l.Cost > left) {
		l.Cost = left
	}
	return l
}

// Sum returns what records say was spent.
func Sum(records []Record) Spent { return read(records).spent }

// fresh returns the tokens that a limit counts: what a provider's cache gave costs a tenth, and
// would be counted anew with every turn.
func fresh(u model.Use) int { return u.In + u.CacheWrite + u.Out }

// nearly is the part of a limit at which the model is told of it.
const nearly = .9

// Reached returns the limit that has been reached, and the one that nearly has; "" = none.
func (l Limits) Reached(s Spent) (over, near string) {
	for _, limit := range []struct {
		name      string
		used, may float64
	}{
		{fmt.Sprintf("%d rounds", l.Rounds), float64(s.Rounds), float64(l.Rounds)},
		{fmt.Sprintf("%d tokens", l.Tokens), float64(fresh(s.Use)), float64(l.Tokens)},
		{fmt.Sprintf("a cost of %.4g", l.Cost), s.Cost, l.Cost},
		{fmt.Sprint(l.Time), float64(s.Time), float64(l.Time)},
	} {
		switch {
		case limit.may == 0:
		case limit.used >= limit.may:
			return limit.name, ""
		case limit.used >= nearly*limit.may && near == "":
			near = limit.name
		}
	}
	return "", near
}

// Reached returns the limit that has been reached, of the run or above it, and the one of the run
// that nearly has; "" = none.
func (l *Loop) Reached(s Spent) (over, near string) {
	over, near = l.Limits.Reached(s)
	if over == "" && l.Above != nil {
		over = l.Above()
	}
	return over, near
}

// FinalText tells an agent that its next turn is its last.
func FinalText(limit string) string {
	return fmt.Sprintf("The limit of %s is reached: you cannot call tools any more. Hand back what you have found and done, and say what is missing.", limit)
}

// HintText tells an agent that it is near a limit.
func HintText(limit string) string {
	return fmt.Sprintf("Nine tenths of the limit of %s are used. Finish with what you have.", limit)
}
