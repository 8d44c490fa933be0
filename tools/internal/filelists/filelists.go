// Package filelists has the lists of files that several categories keep up to date, so that a
// directory is listed and watched once in a process.
//
// It imports the lists of the workspace, and must not import a category. Start
// at [Lists.Open].
package filelists

import (
	"context"
	"errors"
	"slices"
	"sync"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// Lists are those of a process, each by its root. The zero value has none.
type Lists struct {
	mu  sync.Mutex
	all []*list
}

// list is one that is made or used.
type list struct {
	root  workspace.Path
	made  chan struct{} // closed when table and err are set
	table *fileindex.Index
	err   error
	users int // locked by the mutex of Lists
}

// Open returns the list of a root, which it makes if no one has it; pause is that of
// [fileindex.Options]. Whoever has got it calls release when it is no longer used.
func (l *Lists) Open(ctx context.Context, root workspace.Path, pause func(context.Context) error) (table *fileindex.Index, release func(), err error) {
	for {
		of, first := l.join(root)
		if first {
			of.table, of.err = fileindex.New(ctx, root, fileindex.Options{Pause: pause})
			close(of.made)
		}
		select {
		case <-of.made:
		case <-ctx.Done():
			l.leave(of)
			return nil, nil, context.Cause(ctx)
		}
		if err = of.err; err == nil && !first {
			_, err = of.table.Sync(ctx) // it may be lost
		}
		if err == nil {
			return of.table, sync.OnceFunc(func() { l.leave(of) }), nil
		}
		l.drop(of)
		l.leave(of)
		if first || ctx.Err() != nil || !errors.Is(err, fileindex.ErrLost) && !errors.Is(err, context.Canceled) {
			return nil, nil, err
		}
	}
}

// join returns the list of a root as one of its users, and whether that has to make it.
func (l *Lists) join(root workspace.Path) (of *list, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.all, func(of *list) bool { return of.root == root })
	if at >= 0 {
		l.all[at].users++
		return l.all[at], false
	}
	of = &list{root: root, made: make(chan struct{}), users: 1}
	l.all = append(l.all, of)
	return of, true
}

// drop lets the next user make another list.
func (l *Lists) drop(of *list) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, func(other *list) bool { return other == of })
}

// leave closes a list that has lost its last user.
func (l *Lists) leave(of *list) {
	l.mu.Lock()
	of.users--
	last := of.users == 0
	if last {
		l.all = slices.DeleteFunc(l.all, func(other *list) bool { return other == of })
	}
	l.mu.Unlock()
	if !last {
		return
	}
	<-of.made
	if of.table != nil {
		_ = of.table.Close() // it was only read
	}
}
