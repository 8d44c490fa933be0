package server

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/workspace"
)

// rootsWait is how long a request waits for the client to tell its roots.
const rootsWait = 3 * time.Second

// roots is what the roots of a client of the handshake's era narrow the
// workspace to. They are asked for at the first request that may open files,
// and again after the client has said that they changed.
type roots struct {
	mu      sync.Mutex
	known   bool
	view    *view         // nil: nothing is narrowed
	asking  chan struct{} // closed when the client has answered; nil: nobody asks
	changes int           // that the client told of
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

// discard ends the use of a view as the current one; there may be none.
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

// workspace returns the workspace of a request, and what to call when the
// request no longer uses it.
func (l *link) workspace(r *request) (*workspace.Workspace, func()) {
	p := l.peer.Load()
	if r.msg.modern() || p == nil || p.caps.Roots == nil || !slices.Contains(opensFiles, r.msg.method) {
		return l.server.workspace, func() {}
	}
	l.roots.know(r)
	l.roots.mu.Lock()
	defer l.roots.mu.Unlock()
	if v := l.roots.view; v != nil {
		return v.take(), v.release
	}
	return l.server.workspace, func() {}
}

// know sees to it that the roots of r's client are known, if it can be asked. One
// request asks, the others wait for it.
func (rs *roots) know(r *request) {
	for {
		rs.mu.Lock()
		asking := rs.asking
		switch {
		case rs.known || asking == nil && !r.out.streams():
			rs.mu.Unlock()
			return
		case asking == nil:
			asked, changes := make(chan struct{}), rs.changes
			rs.asking = asked
			rs.mu.Unlock()
			v := r.link.askRoots(r)
			rs.mu.Lock()
			rs.asking = nil
			if rs.changes != changes || r.ctx.Err() != nil { // the answer is out of date, or there is none
				v.discard()
			} else {
				rs.known, rs.view = true, v
			}
			rs.mu.Unlock()
			close(asked)
			if r.ctx.Err() != nil {
				return
			}
		default:
			rs.mu.Unlock()
			select {
			case <-asking:
			case <-r.ctx.Done():
				return
			}
		}
	}
}

// forget lets the roots be asked for anew.
func (rs *roots) forget() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.view.discard()
	rs.known, rs.view = false, nil
	rs.changes++
}

// askRoots asks the client for its roots and narrows the workspace to what both
// have. A client that does not answer, or has nothing of ours, narrows nothing:
// the roots that the user gave to the server hold in any case.
func (l *link) askRoots(r *request) *view {
	ctx, cancel := context.WithTimeout(r.ctx, rootsWait)
	defer cancel()
	list, err := l.newSession(l.id, r).ListRoots(ctx, mcp.ListRootsRequest{})
	if err != nil {
		l.server.log.Warn("the client did not tell its roots; nothing is narrowed", "error", err)
		return nil
	}
	if l.server.workspace == nil || len(list.Roots) == 0 {
		return nil
	}
	dirs := intersect(l.server.workspace, list.Roots)
	switch {
	case len(dirs) == 0:
		l.server.log.Warn("no root of the client is inside the directories that are served; nothing is narrowed", "roots", list.Roots)
		return nil
	case slices.Equal(dirs, l.server.workspace.Roots()):
		return nil
	}
	ws, err := l.server.workspace.Narrow(dirs)
	if err != nil {
		l.server.log.Warn("the workspace cannot be narrowed to the roots of the client", "roots", dirs, "error", err)
		return nil
	}
	l.server.log.Info("narrowed to the roots of the client", "roots", dirs)
	return &view{ws: ws, users: 1}
}

// intersect returns the directories that lie both in a root of the client and in
// one of ours, in our order.
func intersect(ws *workspace.Workspace, theirs []mcp.Root) []string {
	var dirs []string
	add := func(dir string) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, ours := range ws.Roots() {
		for _, root := range theirs {
			dir, ok := fileOf(root.URI)
			if !ok {
				continue
			}
			switch {
			case within(dir, ours):
				add(ours)
			case within(ours, dir):
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

// within reports whether dir is base or below it, by its name.
func within(base, dir string) bool {
	rel, err := filepath.Rel(base, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// fileOf returns the path of a file URI.
func fileOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || u.Path == "" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // of /C:/dir
	}
	return filepath.Clean(filepath.FromSlash(path)), true
}
