package server

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/workspace"
	"toolcrib/workspace/fileuri"
)

// rootsWait is how long a request waits for the client to send its roots.
const rootsWait = 3 * time.Second

// roots narrows the workspace to the roots of a client that opened with initialize. The
// server asks for them at the first request that may open files, over HTTP also when the
// client opens its stream before that, and again after the client has said that they
// changed.
type roots struct {
	mu      sync.Mutex
	base    *workspace.Workspace // that of the latest request
	known   bool                 // the roots of the client, for this base
	view    *view                // nil: nothing is narrowed
	asking  chan struct{}        // closed when the client has answered; nil: nobody asks
	changes int                  // of the base, and of the roots that the client has announced
}

// view is a narrowed workspace that several requests use.
type view struct {
	ws    *workspace.Workspace
	mu    sync.Mutex
	users int // requests, and the roots as long as it is current
}

func (v *view) take() *workspace.Workspace {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.users++
	return v.ws
}

func (v *view) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.users--; v.users == 0 {
		_ = v.ws.Close() // the descriptors were only read from
	}
}

// discard ends the use of the current view, if there is one.
func (v *view) discard() {
	if v != nil {
		v.release()
	}
}

// opensFiles are the methods whose requests use the workspace.
var opensFiles = []string{
	string(mcp.MethodToolsCall), string(mcp.MethodResourcesRead), string(mcp.MethodResourcesList),
	string(mcp.MethodPromptsGet), string(mcp.MethodCompletionComplete), string(mcp.MethodResourcesSubscribe),
}

// workspace returns the workspace of a request, and a function to call when the request
// no longer uses it. A root of the server that was made again since the last request is in it.
func (l *link) workspace(r *request) (*workspace.Workspace, func()) {
	if !slices.Contains(opensFiles, r.msg.Method) {
		return l.base, func() {}
	}
	p := l.peer.Load()
	for {
		base := l.base.Current()
		if r.msg.Modern() || p == nil || p.caps.Roots == nil {
			return base, func() {}
		}
		l.roots.enter(base)
		l.roots.know(r)
		if ws, release := l.roots.take(base); ws != nil || base == nil {
			return ws, release
		} // another request has entered another base meanwhile
	}
}

// take returns base narrowed to the roots, and what to call after its use; nil if it is not the
// base of the roots.
func (rs *roots) take(base *workspace.Workspace) (*workspace.Workspace, func()) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	switch {
	case rs.base != base:
		return nil, nil
	case rs.view != nil:
		return rs.view.take(), rs.view.release
	}
	return base, func() {}
}

// enter makes base the workspace that is narrowed. The view of another one ends.
func (rs *roots) enter(base *workspace.Workspace) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.base != base {
		rs.reset()
		rs.base = base
	}
}

// know asks for the roots of r's client unless they are known or the client cannot be
// asked. One request asks, the others wait for it.
func (rs *roots) know(r *request) {
	for r.ctx.Err() == nil {
		rs.mu.Lock()
		asking, changes, base := rs.asking, rs.changes, rs.base
		settled := rs.known || asking == nil && !r.out.Streams()
		if asking == nil && !settled {
			rs.asking = make(chan struct{})
		}
		rs.mu.Unlock()
		if settled {
			return
		}
		if asking == nil {
			rs.ask(r, base, changes)
			continue
		}
		select {
		case <-asking:
		case <-r.ctx.Done():
		}
	}
}

// ask asks r's client for its roots and narrows base to them. It uses the answer if neither
// has changed since, and r was not cancelled. The others wait until it returns or panics.
func (rs *roots) ask(r *request, base *workspace.Workspace, changes int) {
	defer func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		close(rs.asking)
		rs.asking = nil
	}()
	v := r.link.askRoots(r, base)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.changes != changes || r.ctx.Err() != nil {
		v.discard()
		return
	}
	rs.known, rs.view = true, v
}

// learnRoots asks for the roots before a request wants them. It runs in its own
// goroutine, so a panic is logged and has no other effect.
func (l *link) learnRoots(r *request) {
	defer func() {
		if p := recover(); p != nil {
			_ = l.server.panicked(p) // nobody waits for an answer
		}
	}()
	l.roots.enter(l.base.Current())
	l.roots.know(r)
}

// forget makes the next request ask for the roots again.
func (rs *roots) forget() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.reset()
}

// reset is forget for a caller that holds mu.
func (rs *roots) reset() {
	rs.view.discard()
	rs.known, rs.view = false, nil
	rs.changes++
}

// askRoots asks the client for its roots and narrows base to the directories that both
// have. If the client does not answer, or has none of the server's directories,
// nothing is narrowed: the roots that the user gave to the server apply in any case.
func (l *link) askRoots(r *request, base *workspace.Workspace) *view {
	ctx, cancel := context.WithTimeout(r.ctx, rootsWait)
	defer cancel()
	list, err := l.newSession(l.id, r).ListRoots(ctx, mcp.ListRootsRequest{})
	if err != nil {
		l.server.log.Warn("the client did not tell its roots; nothing is narrowed", "error", err)
		return nil
	}
	if base == nil || len(list.Roots) == 0 {
		return nil
	}
	dirs := intersect(base, list.Roots)
	switch {
	case len(dirs) == 0:
		l.server.log.Warn("no root of the client is inside the directories that are served; nothing is narrowed", "roots", list.Roots)
		return nil
	case slices.Equal(dirs, base.Roots()):
		return nil
	}
	ws, err := base.Narrow(dirs)
	if err != nil {
		l.server.log.Warn("the workspace cannot be narrowed to the roots of the client", "roots", dirs, "error", err)
		return nil
	}
	l.server.log.Info("narrowed to the roots of the client", "roots", dirs)
	return &view{ws: ws, users: 1}
}

// intersect returns the directories that lie both in a root of the client and in one of
// the server, in the server's order.
func intersect(ws *workspace.Workspace, theirs []mcp.Root) []string {
	var dirs []string
	add := func(dir string) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, ours := range ws.Roots() {
		for _, root := range theirs {
			path, ok := fileuri.Parse(root.URI)
			if !ok {
				continue
			}
			switch dir := filepath.Clean(filepath.FromSlash(path)); {
			case workspace.Within(dir, ours):
				add(ours)
			case workspace.Within(ours, dir):
				if p, err := ws.Resolve(dir); err == nil {
					if info, err := p.Stat(); err == nil && info.Kind == workspace.KindDirectory {
						add(dir)
					}
				}
			}
		}
	}
	return dirs
}
