package tasks

import (
	"context"
	"slices"
	"time"
)

// methodTaskNews is the method of the notifications.
const methodNews = "notifications/tasks"

// newsEvery is the least time between two notifications of one task.
const newsEvery = 250 * time.Millisecond

// News notifies a listener of its tasks.
type News struct {
	meta   map[string]any
	notify func(method string, params any)
	tasks  []*Task
	seen   []int // of each, the version that the client knows
	wake   chan struct{}
}

// Watch returns the News of tasks, nil if there are none. notify sends a notification,
// whose _meta is meta.
func Watch(list []*Task, meta map[string]any, notify func(method string, params any)) *News {
	if len(list) == 0 {
		return nil
	}
	n := &News{meta: meta, notify: notify, wake: make(chan struct{}, 1)}
	for _, t := range list {
		if !slices.Contains(n.tasks, t) {
			n.tasks = append(n.tasks, t)
			n.seen = append(n.seen, t.watch(n.wake))
		}
	}
	return n
}

// Close ends the News. When Run has returned, nothing more is sent.
func (n *News) Close() {
	if n == nil {
		return
	}
	for _, t := range n.tasks {
		t.unwatch(n.wake)
	}
}

// IDs returns the ids of the tasks whose news are sent.
func (n *News) IDs() []string {
	if n == nil {
		return nil
	}
	ids := make([]string, len(n.tasks))
	for i, t := range n.tasks {
		ids[i] = t.ID
	}
	return ids
}

// Run sends the news after the acknowledgement, until ctx ends or all tasks have ended.
func (n *News) Run(ctx context.Context, acknowledged <-chan struct{}) {
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
		pause.Reset(newsEvery)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
}

// tell sends the news, and reports whether there may be more.
func (n *News) tell() (more bool) {
	for i, t := range n.tasks {
		news, version, over := t.news(n.meta)
		if version != n.seen[i] {
			n.seen[i] = version
			n.notify(methodNews, news)
		}
		more = more || !over
	}
	return more
}

// watch has a channel hear of changes, and returns the version that a client knows by
// having made the task; none if that has changed so far that it wants to be told.
func (t *Task) watch(wake chan struct{}) (version int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers = append(t.watchers, wake)
	if t.status != working {
		return -1
	}
	return t.version
}

func (t *Task) unwatch(wake chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers = slices.DeleteFunc(t.watchers, func(other chan struct{}) bool { return other == wake })
}

// news returns a task as a notification to a listener has it, its version, and whether
// it has ended.
func (t *Task) news(meta map[string]any) (news View, version int, over bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	news = t.whole("")
	news.Meta = meta
	return news, t.version, !t.expires.IsZero()
}
