package server

import (
	"context"
	"slices"
	"time"
)

// methodTaskNews is the method of the notifications.
const methodTaskNews = "notifications/tasks"

// taskNewsEvery is the least time between two notifications of one task.
const taskNewsEvery = 250 * time.Millisecond

// taskNews tells a listener of its tasks.
type taskNews struct {
	meta   map[string]any
	notify func(method string, params any)
	tasks  []*task
	seen   []int // of each, the version that the client knows
	wake   chan struct{}
}

// watchTasks returns what tells of tasks, nil for none: notify sends a notification, whose
// _meta is meta.
func watchTasks(list []*task, meta map[string]any, notify func(method string, params any)) *taskNews {
	if len(list) == 0 {
		return nil
	}
	n := &taskNews{meta: meta, notify: notify, wake: make(chan struct{}, 1)}
	for _, t := range list {
		if !slices.Contains(n.tasks, t) {
			n.tasks = append(n.tasks, t)
			n.seen = append(n.seen, t.watch(n.wake))
		}
	}
	return n
}

// close ends it. Nothing is told any more when run has returned.
func (n *taskNews) close() {
	if n == nil {
		return
	}
	for _, t := range n.tasks {
		t.unwatch(n.wake)
	}
}

// ids are those of the tasks that are told of.
func (n *taskNews) ids() []string {
	if n == nil {
		return nil
	}
	ids := make([]string, len(n.tasks))
	for i, t := range n.tasks {
		ids[i] = t.id
	}
	return ids
}

// run tells what is new after the acknowledgement, until ctx ends or all tasks have.
func (n *taskNews) run(ctx context.Context, acknowledged <-chan struct{}) {
	select {
	case <-acknowledged:
	case <-ctx.Done():
		return
	}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for n.tell() {
		select {
		case <-n.wake:
		case <-ctx.Done():
			return
		}
		pause.Reset(taskNewsEvery)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
}

// tell tells what is new, and reports whether there may be more.
func (n *taskNews) tell() (more bool) {
	for i, t := range n.tasks {
		news, version, over := t.news(n.meta)
		if version != n.seen[i] {
			n.seen[i] = version
			n.notify(methodTaskNews, news)
		}
		more = more || !over
	}
	return more
}

// watch has a channel hear of changes, and returns the version that a client knows by
// having made the task; none where that has changed so far that it wants to be told.
func (t *task) watch(wake chan struct{}) (version int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers = append(t.watchers, wake)
	if t.status != taskWorking {
		return -1
	}
	return t.version
}

func (t *task) unwatch(wake chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers = slices.DeleteFunc(t.watchers, func(other chan struct{}) bool { return other == wake })
}

// news returns a task as a notification to a listener has it, its version, and whether
// it has ended.
func (t *task) news(meta map[string]any) (news taskResult, version int, over bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	news = t.whole("")
	news.Meta = meta
	return news, t.version, !t.expires.IsZero()
}
