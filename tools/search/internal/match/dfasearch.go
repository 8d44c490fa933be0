package match

import "context"

const (
	// After each so many candidate lines it is judged whether the prefilter pays.
	trial = 64
	// crowded is the distance of candidate lines, in bytes, below which a search
	// of the whole text is faster.
	crowded = 100
	// firstCrowd is how many bytes are then searched before the next trial.
	firstCrowd = 64 << 10
)

// search is one search of a text for the lines that match.
type search struct {
	*Matcher
	ctx   context.Context
	text  []byte
	yield func(Line) bool
	dfa   *dfa // nil until it is wanted
	ended bool // no more lines are wanted
}

// run yields all lines, behind the prefilter if there is one.
func (s *search) run() {
	switch {
	case s.pre != nil:
		s.candidates()
	case s.automaton != nil && s.automaton.always:
		s.each(0, func([]byte) bool { return true })
	default:
		from := s.whole(0, len(s.text))
		s.each(from, func(line []byte) bool { return s.matches(s.ctx, line) })
		if s.dfa != nil {
			s.dfa.read += len(s.text) - from
		}
	}
}

// candidates yields the lines that match among those that pass the prefilter.
func (s *search) candidates() {
	began, tested, crowd := 0, 0, firstCrowd
	for from := 0; from < len(s.text) && !s.ended; {
		at := s.pre.index(s.text[from:])
		if at < 0 {
			return
		}
		line := LineAt(s.text, from, from+at)
		if (s.exact || s.verify(s.text[line.Start:line.End])) && !s.yield(line) {
			return
		}
		from = line.Next
		if tested++; tested < trial {
			continue
		}
		if s.ctx.Err() != nil {
			return
		}
		switch {
		case s.exact || crowd == 0:
		case from-began >= trial*crowded:
			crowd = firstCrowd
		default:
			end := LineAt(s.text, from, min(from+crowd, len(s.text))).Next
			if from = s.whole(from, end); from == end {
				crowd *= 2
			} else {
				crowd = 0 // too many states, and behind the prefilter there are fewer lines
			}
		}
		began, tested = from, 0
	}
}

// verify reports whether one line matches.
func (s *search) verify(line []byte) bool {
	if s.open() {
		if matched, ok := s.dfa.matches(s.ctx, line); ok {
			return matched
		}
	}
	return s.matches(s.ctx, line)
}

// whole yields the lines of text[from:to], whole lines, that match, by the DFA.
// It returns where it gave up, the start of a line, or to.
func (s *search) whole(from, to int) int {
	if !s.open() {
		return from
	}
	return from + s.dfa.lines(s.ctx, s.text[from:to], func(l Line) bool {
		s.ended = !s.yield(Line{from + l.Start, from + l.End, from + l.Next})
		return !s.ended
	})
}

// each yields the lines from an offset on for which match holds.
func (s *search) each(from int, match func(line []byte) bool) {
	for from < len(s.text) && s.ctx.Err() == nil && !s.ended {
		line := LineAt(s.text, from, from)
		if match(s.text[line.Start:line.End]) {
			s.ended = !s.yield(line)
		}
		from = line.Next
	}
}

// open takes a DFA from those of the matcher; it returns false if there is none
// for this pattern.
func (s *search) open() bool {
	if s.dfa == nil && s.automaton != nil {
		s.dfa, _ = s.dfas.Get().(*dfa)
		if s.dfa == nil {
			s.dfa = newDFA(s.automaton)
		}
		s.dfa.ctx = s.ctx
	}
	return s.dfa != nil
}

// close gives the DFA back for the next search.
func (s *search) close() {
	if s.dfa != nil {
		s.dfa.ctx = nil
		s.dfas.Put(s.dfa)
	}
}
