package documents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"toolcrib/tools"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/internal/background"
	"toolcrib/tools/internal/document/tesseract"
	"toolcrib/tools/internal/filelists"
	"toolcrib/workspace"
)

// watch keeps what calls found of a workspace until a file changes, so that a call in an
// unchanged tree looks at no file. It does so where the system reports changes, and in a
// server alone.
type watch struct {
	lists *filelists.Lists

	mu   sync.Mutex
	ctx  context.Context // of the background; nil = nothing may run there
	busy func() bool     // calls go on
	work sync.WaitGroup
	held []*held                        // the one used last at the end
	last *simplelru.LRU[string, looked] // nil until something is kept
}

// held is a workspace whose files are listed, so that its generation is exact.
type held struct {
	id    string
	exact bool // it was once; if it is not any more, the lists are lost
	stop  context.CancelFunc
}

// looked is what a call has found.
type looked struct {
	generation uint64
	c          *collection
	all        *contents
}

const (
	mostHeld   = 4 // a new one replaces the one used longest ago
	mostLooked = 8
)

// start lets the watch work until ctx ends or stop is called, less while busy reports that
// calls go on.
func (w *watch) start(ctx context.Context, busy func() bool) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	w.mu.Lock()
	w.ctx, w.busy, w.held = ctx, busy, nil
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
	languages, _ := d.languages("")
	key := fmt.Sprintf("%q", []string{ws.Identity(), string(names), languages, tesseract.Find()})
	root, err := tools.Resolve(ctx, ws.Roots()[0])
	if err != nil {
		return nil, nil, err
	}
	generation, exact := ws.Generation(ctx)
	if exact && !root.HasDenyRules() { // others may see what this call may not
		if found, ok := d.watch.get(key); ok && found.generation == generation {
			d.watch.want(ctx, exact)
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
	d.watch.want(ctx, exact)
	if exact && !all.unsettled {
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

// want has the system report the changes of the roots. exact reports whether it does, whoever
// has it do so.
func (w *watch) want(ctx context.Context, exact bool) {
	ws := tools.Session(ctx).Workspace
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx == nil {
		return
	}
	id := ws.Identity()
	if at := slices.IndexFunc(w.held, func(h *held) bool { return h.id == id }); at >= 0 {
		h := w.held[at]
		w.held = slices.Delete(w.held, at, at+1)
		if lost := h.exact && !exact; !lost {
			h.exact = exact
			w.held = append(w.held, h)
			return
		}
		h.stop()
	}
	var roots []workspace.Path
	for _, name := range ws.Roots() {
		root, err := tools.Resolve(ctx, name)
		if err != nil {
			return
		}
		roots = append(roots, root.Root())
	}
	if len(w.held) == mostHeld {
		w.held[0].stop()
		w.held = slices.Delete(w.held, 0, 1)
	}
	inner, stop := context.WithCancel(w.ctx)
	w.held = append(w.held, &held{id: id, stop: stop})
	w.work.Go(func() {
		_ = tools.Recover(func() error { return w.hold(inner, ws, roots) }) // without it calls look at the files
	})
}

// hold keeps lists of the files of the roots until ctx ends, if they make the generation of
// the workspace exact.
func (w *watch) hold(ctx context.Context, ws *workspace.Workspace, roots []workspace.Path) error {
	background.LowerPriority()
	for _, root := range roots {
		_, release, err := w.lists.Open(ctx, root, background.NewPace(w.busy).Keep)
		if err != nil {
			return err
		}
		defer release()
	}
	if _, exact := ws.Generation(ctx); exact {
		<-ctx.Done()
	}
	return nil
}
