package documents

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"toolcrib/tools"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// watch keeps what calls found of a workspace until a file changes, so that a call in an
// unchanged tree looks at no file. It does so where the system reports changes, and in a
// server alone.
type watch struct {
	mu    sync.Mutex
	ctx   context.Context // of the background; nil = nothing may run there
	work  sync.WaitGroup
	begun map[string]bool                // the workspaces whose lists of files were begun
	last  *simplelru.LRU[string, looked] // nil until something is kept
}

// looked is what a call has found.
type looked struct {
	generation uint64
	c          *collection
	all        *contents
}

const (
	mostHeld   = 4 // workspaces whose files are listed
	mostLooked = 8
)

// start lets the watch work until ctx ends or stop is called.
func (w *watch) start(ctx context.Context, _ func() bool) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	w.mu.Lock()
	w.ctx, w.begun = ctx, map[string]bool{}
	w.mu.Unlock()
	return func() {
		end()
		w.mu.Lock()
		w.ctx = nil
		w.mu.Unlock()
		w.work.Wait()
	}
}

// look returns the files that paths name with what the index has of them.
func (d *deps) look(ctx context.Context, x *index.Index, paths []string) (*collection, *contents, error) {
	ws := tools.Session(ctx).Workspace
	names, err := json.Marshal(paths)
	if err != nil {
		return nil, nil, err
	}
	key := ws.Identity() + string(names)
	root, err := tools.Resolve(ctx, ws.Roots()[0])
	if err != nil {
		return nil, nil, err
	}
	generation, exact := ws.Generation(ctx)
	if exact && !root.HasDenyRules() { // others may see what this call may not
		if found, ok := d.watch.get(key); ok && found.generation == generation {
			return found.c, found.all, nil
		}
	}
	c, err := collect(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	all, err := d.update(ctx, x, c)
	if err != nil || !c.listed {
		return c, all, err
	}
	switch {
	case !exact:
		d.watch.want(ctx)
	case !all.unsettled:
		d.watch.put(key, looked{generation, c, all})
	}
	return c, all, nil
}

func (w *watch) get(key string) (looked, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		return looked{}, false
	}
	return w.last.Get(key)
}

func (w *watch) put(key string, found looked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last, _ = simplelru.NewLRU[string, looked](mostLooked, nil)
	}
	w.last.Add(key, found)
}

// want begins to have the system report the changes of the roots.
func (w *watch) want(ctx context.Context) {
	ws := tools.Session(ctx).Workspace
	var roots []workspace.Path
	for _, name := range ws.Roots() {
		root, err := tools.Resolve(ctx, name)
		if err != nil {
			return
		}
		roots = append(roots, root)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if id := ws.Identity(); w.ctx != nil && !w.begun[id] && len(w.begun) < mostHeld {
		w.begun[id] = true
		background := w.ctx
		w.work.Go(func() {
			_ = tools.Recover(func() error { return hold(background, ws, roots) }) // without it calls look at the files
		})
	}
}

// hold keeps lists of the files of the roots until ctx ends, if they make the generation of
// the workspace exact.
func hold(ctx context.Context, ws *workspace.Workspace, roots []workspace.Path) error {
	for _, root := range roots {
		list, err := fileindex.New(ctx, root, fileindex.Options{})
		if err != nil {
			return err
		}
		defer list.Close()
	}
	if _, exact := ws.Generation(ctx); exact {
		<-ctx.Done()
	}
	return nil
}
