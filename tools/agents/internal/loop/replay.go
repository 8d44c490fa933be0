package loop

import (
	"fmt"
	"slices"

	"toolcrib/tools/agents/internal/model"
)

// Replay goes through a run again as its records decide, without a model and without calls. Each
// step goes to see, with what was spent by then. The error names the first step that cannot
// follow those before it: the records are not whole then.
func Replay(records []Record, see func(n int, r Record, spent Spent) error) error {
	s := read(nil)
	for n, r := range records {
		if why := s.contradicts(r); why != "" {
			return fmt.Errorf("step %d, %s: %s", n, r.Kind, why)
		}
		s.add(r)
		if err := see(n, r, s.spent); err != nil {
			return err
		}
	}
	return nil
}

// contradicts says why a record cannot be the next one; "" = it can.
func (s *state) contradicts(r Record) string {
	open := func() bool {
		return slices.ContainsFunc(s.open, func(c *model.Call) bool { return c.ID == r.Call })
	}
	switch {
	case len(s.records) == 0 && r.Kind != Said:
		return "nobody has said a task"
	case s.ended != nil && r.Kind != Said && r.Kind != Result && r.Kind != Taken:
		return "the run had ended, and nobody went on with it"
	case (r.Kind == Begin || r.Kind == Result) && !open():
		return fmt.Sprintf("call %s was not wanted, or has its result", r.Call)
	case r.Kind == Turn && len(s.open) > 0 && s.final == "" && s.ended == nil && s.records[len(s.records)-1].Kind != Said:
		return fmt.Sprintf("call %s has no result", s.open[0].ID)
	}
	return ""
}
