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
	known   bool
	view    *view         // nil: nothing is narrowed
	asking  chan struct{} // closed when the client has answered; nil: nobody asks
	changes int           // that the client has announced
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
// no longer uses it.
func (l *link) workspace(r *request) (*workspace.Workspace, func()) {
	p := l.peer.Load()
	if r.msg.Modern() || p == nil || p.caps.Roots == nil || !slices.Contains(opensFiles, r.msg.Method) {
		return l.base, func() {}
	}
	l.roots.know(r)
	l.roots.mu.Lock()
	defer l.roots.mu.Unlock()
	if v := l.roots.view; v != nil {
		return v.take(), v.release
	}
	return l.base, func() {}
}

// know asks for the roots of r's client unless they are known or the client cannot be
// asked. One request asks, the others wait for it.
func (rs *roots) know(r *request) {
	for r.ctx.Err() == nil {
		rs.mu.Lock()
		asking, changes := rs.asking, rs.changes
		settled := rs.known || asking == nil && !r.out.Streams()
		if asking == nil && !settled {
			rs.asking = make(chan struct{})
		}
		rs.mu.Unlock()
		if settled {
			return
		}
		if asking == nil {
			rs.ask(r, changes)
			continue
		}
		select {
		case <-asking:
		case <-r.ctx.Done():
		}
	}
}

// ask asks r's client for its roots. It uses the answer if the roots have not changed
// since, and r was not cancelled. The others wait until it returns or panics.
func (rs *roots) ask(r *request, changes int) {
	defer func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		close(rs.asking)
		rs.asking = nil
	}()
	v := r.link.askRoots(r)
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
	l.roots.know(r)
}

// forget makes the next request ask for the roots again.
func (rs *roots) forget() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.view.discard()
	rs.known, rs.view = false, nil
	rs.changes++
}

// askRoots asks the client for its roots and narrows the workspace to the directories
// that both have. If the client does not answer, or has none of the server's directories,
// nothing is narrowed: the roots that the user gave to the server apply in any case.
func (l *link) askRoots(r *request) *view {
	ctx, cancel := context.WithTimeout(r.ctx, rootsWait)
	defer cancel()
	list, err := l.newSession(l.id, r).ListRoots(ctx, mcp.ListRootsRequest{})
	if err != nil {
		l.server.log.Warn("the client did not tell its roots; nothing is narrowed", "error", err)
		return nil
	}
	if l.base == nil || len(list.Roots) == 0 {
		return nil
	}
	dirs := intersect(l.base, list.Roots)
	switch {
	case len(dirs) == 0:
		l.server.log.Warn("no root of the client is inside the directories that are served; nothing is narrowed", "roots", list.Roots)
		return nil
	case slices.Equal(dirs, l.base.Roots()):
		return nil
	}
	ws, err := l.base.Narrow(dirs)
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
