package sandbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
)

// usualIdle is how long a holder has nothing to do before it ends, where nobody says.
const usualIdle = 10 * time.Minute

// holder returns the holder for the call of ctx, which it starts where there is none. It
// has one user more until leave.
func (e *Engine) holder(ctx context.Context, opt Options) (*holder, error) {
	s := tools.Session(ctx)
	if s == nil || s.Workspace == nil {
		return nil, errors.New("a program is started outside of a call")
	}
	whose := strings.Join(append([]string{opt.Level.String(), s.Principal}, s.Workspace.Roots()...), "\x00")
	for {
		h, how, err := e.enter(whose, opt)
		if err != nil {
			return nil, err
		}
		switch how {
		case isOld:
			e.finish(h)
			continue
		case isEnding:
			select { // its successor needs what it has locked
			case <-h.ended:
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		case isNew:
			h.err = h.open(s)
			close(h.ready)
		}
		select {
		case <-h.ready:
		case <-ctx.Done():
			e.leave(h)
			return nil, context.Cause(ctx)
		}
		if h.err != nil {
			e.leave(h)
			e.drop(h)
			return nil, h.err
		}
		return h, nil
	}
}

// entered is what enter has found.
type entered int

const (
	isKnown entered = iota
	isNew           // and is to be opened
	isEnding
	isOld // it was made with other settings and has no users; it is marked as ending, and to be finished
)

// enter returns the holder of a principal in a workspace, with one user more where it is
// not ending. One that was made with other settings ends first; where programs still run
// in it, it goes on beside the new one, which has a temporary directory of its own then.
func (e *Engine) enter(whose string, opt Options) (h *holder, how entered, err error) {
	key := strings.Join([]string{whose, opt.view()}, "\x00\x00")
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, isKnown, ErrClosed
	}
	h, ok := e.platform.holders[key]
	for _, other := range e.platform.holders {
		switch {
		case ok || other.whose != whose:
		case other.ending:
			return other, isEnding, nil
		case other.users == 0:
			other.ending = true
			return other, isOld, nil
		}
	}
	if !ok {
		h = &holder{
			engine: e, opt: opt, key: key, whose: whose, free: func() {},
			ready: make(chan struct{}), gone: make(chan struct{}), ended: make(chan struct{}),
		}
		if h.temp = e.platform.temps[whose]; h.temp != nil {
			delete(e.platform.temps, whose)
		}
		if e.platform.holders == nil {
			e.platform.holders = map[string]*holder{}
		}
		e.platform.holders[key] = h
		how = isNew
	}
	if h.ending {
		return h, isEnding, nil
	}
	if h.users++; h.idle != nil {
		h.idle.Stop()
		h.idle = nil
	}
	return h, how, nil
}

// leave takes a user from a holder. One that stays without any for long ends: what
// programs see in HOME and in their temporary directories is there for the next one.
func (e *Engine) leave(h *holder) {
	e.mu.Lock()
	defer e.mu.Unlock()
	idle := cmp.Or(h.opt.Idle, usualIdle)
	old := h.opt.view() != e.opt.view()
	if h.users--; h.users > 0 || h.ending || e.closed || idle < 0 && !old {
		return
	}
	if old {
		idle = 0 // the next program is none of its own
	}
	h.idle = time.AfterFunc(idle, func() {
		e.mu.Lock()
		unused := h.users == 0 && !h.ending && !e.closed
		if unused {
			h.ending = true
		}
		e.mu.Unlock()
		if unused {
			e.finish(h)
		}
	})
}

// drop ends a holder that does not work, so that the next call tries again.
func (e *Engine) drop(h *holder) {
	e.mu.Lock()
	first := !h.ending
	h.ending = true
	e.mu.Unlock()
	if !first {
		<-h.ended
		return
	}
	e.finish(h)
}

// finish ends a holder that is marked as ending. It is known until nothing of it is left,
// so that its successor waits; that has its temporary directory, unless there will be none.
func (e *Engine) finish(h *holder) {
	if err := h.close(); err != nil {
		h.opt.Log.Debug("close the sandbox", "err", err)
	}
	e.mu.Lock()
	last := h.temp
	if last != nil && !e.closed && e.platform.temps[h.whose] == nil {
		if e.platform.temps == nil {
			e.platform.temps = map[string]*temp{}
		}
		e.platform.temps[h.whose], last = last, nil
	}
	delete(e.platform.holders, h.key)
	e.mu.Unlock()
	if last != nil {
		if err := last.remove(); err != nil {
			h.opt.Log.Debug("remove the temporary files of the sandbox", "err", err)
		}
	}
	close(h.ended)
}

// release ends the holders. No program runs any more.
func (e *Engine) release() error {
	e.mu.Lock()
	var ours, others []*holder
	for _, h := range e.platform.holders {
		if h.ending {
			others = append(others, h)
			continue
		}
		h.ending = true
		ours = append(ours, h)
	}
	e.mu.Unlock()
	var errs []error
	for _, h := range ours {
		<-h.ready
		e.finish(h)
	}
	for _, h := range others {
		<-h.ended
	}
	e.mu.Lock()
	temps, proxy := e.platform.temps, e.platform.proxy
	e.platform.temps, e.platform.proxy = nil, nil
	e.mu.Unlock()
	for _, t := range temps {
		errs = append(errs, t.remove())
	}
	if proxy != nil {
		errs = append(errs, proxy.Close())
	}
	return errors.Join(errs...)
}

// view is what of the options a view is made with, which programs share.
func (o Options) view() string {
	return strings.Join(append(append(slices.Clone(o.Read), ""), o.Hide...), "\x00")
}
