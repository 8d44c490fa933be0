package scan

import (
	"context"
	"errors"
	"time"
)

// errSlow ends the search of a file that takes too large a part of the time.
var errSlow = errors.New("the file takes too long")

// patientLooks is the check of the context from which the search of a file is timed: most
// files are searched with fewer checks.
const patientLooks = 8

// patience is the context for searching one file after the other. It ends early for a file
// that takes more than its part of the remaining time.
type patience struct {
	context.Context
	part  float64 // see Options
	looks int
	end   time.Time // zero = not known yet
	slow  bool
}

// next starts the time of another file.
func (p *patience) next() { p.looks, p.end, p.slow = 0, time.Time{}, false }

// Err implements [context.Context].
func (p *patience) Err() error {
	if err := p.Context.Err(); err != nil {
		return err
	}
	if p.looks++; p.slow || p.part > 0 && p.looks >= patientLooks && p.over() {
		p.slow = true
		return errSlow
	}
	return nil
}

// over reports whether the time of the file is over.
func (p *patience) over() bool {
	if p.end.IsZero() {
		deadline, ok := p.Deadline()
		if !ok {
			p.part = 0
			return false
		}
		p.end = time.Now().Add(time.Duration(p.part * float64(time.Until(deadline))))
	}
	return time.Now().After(p.end)
}
