package code

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/handles"
	"toolcrib/tools/internal/progress"
)

// mostKernels is how many interpreters one principal may have at a time.
const mostKernels = 16

// Kernels are the interpreters that go on between calls, by handle. The zero value is
// ready. Its methods may be called by several goroutines.
type Kernels struct {
	Idle time.Duration // an interpreter without a cell for so long ends; 0 = half an hour

	mu    sync.Mutex
	list  map[string]*kernel
	cells uint64 // of all kernels so far
}

// open makes a kernel of the call's principal; nothing is started yet. It has its turn.
func (ks *Kernels) open(ctx context.Context, network bool) (*kernel, error) {
	s := tools.Session(ctx)
	ks.mu.Lock()
	defer ks.mu.Unlock()
	n := 0
	for _, k := range ks.list {
		if k.principal == s.Principal {
			n++
		}
	}
	if n >= mostKernels {
		return nil, tools.Errorf(tools.Conflict, "%d interpreters are open already", n).WithHint("go on with the handle of one, or end one by action=end")
	}
	k := &kernel{principal: s.Principal, roots: rootsOf(s), network: network, turn: make(chan struct{}, 1)}
	k.turn <- struct{}{}
	if ks.list == nil {
		ks.list = map[string]*kernel{}
	}
	for k.handle == "" || ks.list[k.handle] != nil {
		k.handle = "py-" + handles.New(s.Principal)
	}
	ks.list[k.handle] = k
	ks.use(s, k)
	return k, nil
}

// use notes that a client runs a cell in a kernel. The caller holds the lock.
func (ks *Kernels) use(s *tools.SessionInfo, k *kernel) {
	ks.cells++
	k.client, k.used = s.Client.Name, ks.cells
}

// last returns the live kernel in which the client of the call has run its last cell, one
// with the network if wanted; nil = there is none. Anonymous users have none: they may be
// others than those who ran the cell.
func (ks *Kernels) last(ctx context.Context, network bool) *kernel {
	s := tools.Session(ctx)
	ks.mu.Lock()
	defer ks.mu.Unlock()
	var last *kernel
	for _, k := range ks.list {
		if k.principal != s.Principal || s.Principal == tools.Anonymous || k.roots != rootsOf(s) || k.client != s.Client.Name ||
			network && !k.network || !k.alive() {
			continue
		}
		if last == nil || k.used > last.used {
			last = k
		}
	}
	return last
}

// Count returns how many interpreters there are.
func (ks *Kernels) Count() int {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	return len(ks.list)
}

// rootsOf identifies a workspace: an interpreter sees the one in which it was started.
func rootsOf(s *tools.SessionInfo) string { return s.Workspace.Identity() }

// find returns the kernel of a handle, if it is the caller's.
func (ks *Kernels) find(ctx context.Context, handle string) (*kernel, error) {
	s := tools.Session(ctx)
	ks.mu.Lock()
	defer ks.mu.Unlock()
	k, ok := ks.list[handle]
	if !ok || k.principal != s.Principal || k.roots != rootsOf(s) {
		return nil, tools.Errorf(tools.NotFound, "no interpreter has the handle %q", handle).
			WithHint("it has ended, also after %s without a cell, or works in a directory that was made again since; handle=new starts one: make its variables again", durations.Exact(cmp.Or(ks.Idle, kernelIdle)))
	}
	ks.use(s, k)
	return k, nil
}

// take gives the caller the turn of a kernel, unless a cell runs.
func (k *kernel) take() error {
	select {
	case k.turn <- struct{}{}:
		return nil
	default:
		return tools.Errorf(tools.Conflict, "interpreter %s is busy with another cell", k.handle).
			WithHint("call again when that has ended; action=interrupt stops it, handle=new starts another")
	}
}

// rest gives the turn back, and ends the kernel if it stays idle for ks.Idle.
func (ks *Kernels) rest(k *kernel) {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if k.idle != nil {
		k.idle.Stop()
	}
	if ks.list[k.handle] == k {
		k.idle = time.AfterFunc(cmp.Or(ks.Idle, kernelIdle), func() {
			if k.take() == nil {
				ks.drop(k)
			}
		})
	}
	<-k.turn
}

// drop ends a kernel. The caller holds its turn.
func (ks *Kernels) drop(k *kernel) {
	ks.mu.Lock()
	delete(ks.list, k.handle)
	if k.idle != nil {
		k.idle.Stop()
	}
	ks.mu.Unlock()
	if k.program() != nil {
		k.end()
	}
}

// alive reports whether the program of the kernel runs.
func (k *kernel) alive() bool {
	p := k.program()
	if p == nil {
		return false
	}
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

// cell runs a cell in a kernel. The caller holds its turn, which cell gives back. If the call
// is cancelled, the cell is interrupted.
func (d Deps) cell(ctx context.Context, k *kernel, code string, timeout time.Duration) (a answer, output excerpt, stopped bool, err error) {
	out, mark, _ := k.begin(code) // it fails only if the program has ended, which await reports
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = progress.During(ctx, out.progress(), 0, func() (err error) {
		a, err = k.await(limited, out, mark)
		return err
	})
	if cause := context.Cause(ctx); cause != nil {
		go func() {
			_, _ = k.stop(out, mark) // the next call reports whether it survived
			d.Kernels.rest(k)
		}()
		return a, excerpt{}, false, cause
	}
	if errors.Is(err, context.DeadlineExceeded) {
		stopped = true
		a, err = k.stop(out, mark)
	}
	output = k.taken(out)
	if a.Exit || err != nil {
		k.end()
	}
	d.Kernels.rest(k)
	return a, output, stopped, err
}
