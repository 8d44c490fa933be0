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

// usualIdle is the default of Options.Idle.
const usualIdle = 10 * time.Minute

// zygote returns the zygote for the call of ctx and starts it if there is none. The caller
// counts as a user of it until leave.
func (e *Engine) zygote(ctx context.Context, opt Options) (*zygote, error) {
	s := tools.Session(ctx)
	if s == nil || s.Workspace == nil {
		return nil, errors.New("a program is started outside of a call")
	}
	whose := strings.Join(append([]string{opt.Level.String(), s.Principal}, s.Workspace.Roots()...), "\x00")
	for {
		z, how, err := e.enter(whose, s.Workspace.Identity(), opt)
		if err != nil {
			return nil, err
		}
		switch how {
		case isOld:
			e.finish(z)
			continue
		case isEnding:
			select { // its successor needs its locks
			case <-z.ended:
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		case isNew:
			z.err = z.open(s)
			close(z.ready)
		}
		select {
		case <-z.ready:
		case <-ctx.Done():
			e.leave(z)
			return nil, context.Cause(ctx)
		}
		if z.err != nil {
			e.leave(z)
			e.drop(z)
			return nil, z.err
		}
		return z, nil
	}
}

// entered is the state of the zygote that enter returns.
type entered int

const (
	isKnown entered = iota
	isNew           // the caller must open it
	isEnding
	isOld // made with other settings or directories, without users, marked as ending: the caller must finish it
)

// enter returns the zygote of an owner and counts one more user, unless it is ending. A
// zygote that was made with other settings, or with other directories under the names of the
// roots, must end first. If programs still run in it, it stays next to the new one, which then
// gets its own temporary directory.
func (e *Engine) enter(whose, identity string, opt Options) (z *zygote, how entered, err error) {
	key := strings.Join([]string{whose, identity, opt.view()}, "\x00\x00")
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, isKnown, ErrClosed
	}
	z, ok := e.platform.zygotes[key]
	for _, other := range e.platform.zygotes {
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
		z = &zygote{
			engine: e, opt: opt, key: key, whose: whose, free: func() {},
			ready: make(chan struct{}), gone: make(chan struct{}), ended: make(chan struct{}),
		}
		if z.temp = e.platform.temps[whose]; z.temp != nil {
			delete(e.platform.temps, whose)
		}
		if e.platform.zygotes == nil {
			e.platform.zygotes = map[string]*zygote{}
		}
		e.platform.zygotes[key] = z
		how = isNew
	}
	if z.ending {
		return z, isEnding, nil
	}
	if z.users++; z.idle != nil {
		z.idle.Stop()
		z.idle = nil
	}
	return z, how, nil
}

// leave counts one user less. A zygote without users ends after a time. HOME and the
// temporary directories of programs are kept for the next one.
func (e *Engine) leave(z *zygote) {
	e.mu.Lock()
	defer e.mu.Unlock()
	idle := cmp.Or(z.opt.Idle, usualIdle)
	old := z.opt.view() != e.opt.view()
	if z.users--; z.users > 0 || z.ending || e.closed || idle < 0 && !old {
		return
	}
	if old {
		idle = 0 // the next program will need another one
	}
	z.idle = time.AfterFunc(idle, func() {
		e.mu.Lock()
		unused := z.users == 0 && !z.ending && !e.closed
		if unused {
			z.ending = true
		}
		e.mu.Unlock()
		if unused {
			e.finish(z)
		}
	})
}

// drop ends a zygote that does not work, so that the next call tries again.
func (e *Engine) drop(z *zygote) {
	e.mu.Lock()
	first := !z.ending
	z.ending = true
	e.mu.Unlock()
	if !first {
		<-z.ended
		return
	}
	e.finish(z)
}

// finish ends a zygote that is marked as ending. It stays registered until it is cleaned up,
// so that its successor waits. The successor gets its temporary directory; if the engine is
// closed, the directory is removed.
func (e *Engine) finish(z *zygote) {
	if err := z.close(); err != nil {
		z.opt.Log.Debug("close the sandbox", "err", err)
	}
	e.mu.Lock()
	last := z.temp
	if last != nil && !e.closed && e.platform.temps[z.whose] == nil {
		if e.platform.temps == nil {
			e.platform.temps = map[string]*temp{}
		}
		e.platform.temps[z.whose], last = last, nil
	}
	delete(e.platform.zygotes, z.key)
	e.mu.Unlock()
	if last != nil {
		if err := last.remove(); err != nil {
			z.opt.Log.Debug("remove the temporary files of the sandbox", "err", err)
		}
	}
	close(z.ended)
}

// release ends all zygotes. No program may be running.
func (e *Engine) release() error {
	e.mu.Lock()
	var ours, others []*zygote
	for _, z := range e.platform.zygotes {
		if z.ending {
			others = append(others, z)
			continue
		}
		z.ending = true
		ours = append(ours, z)
	}
	e.mu.Unlock()
	var errs []error
	for _, z := range ours {
		<-z.ready
		e.finish(z)
	}
	for _, z := range others {
		<-z.ended
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

// view returns the options that determine the shared view, as a key.
func (o Options) view() string {
	return strings.Join(append(append(slices.Clone(o.Read), ""), o.Hide...), "\x00")
}
