package server

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/tools"
)

// The notifications of the Tasks extension, which mcp-go does not have either: a client
// names tasks in a subscriptions/listen request and hears there how they fare.

// methodTaskNews is the method of the notifications.
const methodTaskNews = "notifications/tasks"

// taskNewsEvery is the least time between two notifications of one task.
const taskNewsEvery = 250 * time.Millisecond

// taskNews tells a listener of its tasks.
type taskNews struct {
	req   *request
	tasks []*task
	seen  []int // of each, the version that the client knows
	wake  chan struct{}
}

// taskNews returns what tells of the tasks that a request to listen names, as far as the
// client may know of them; nil where it names none.
func (l *link) taskNews(r *request, from *origin) *taskNews {
	wanted, ok := r.msg.params.get("notifications")
	if !ok || wanted[0] != '{' {
		return nil
	}
	raw, ok := split(wanted).get("taskIds")
	if !ok {
		return nil
	}
	if !from.client.Tasks {
		from.fault = lacking("notifications.taskIds needs the extension "+string(tools.Tasks)+", which the client has not declared", tools.Tasks)
		return nil
	}
	var ids []string
	if json.Unmarshal(raw, &ids) != nil {
		from.fault = refuse(mcp.INVALID_PARAMS, "params.notifications.taskIds must be a list of ids of tasks")
		return nil
	}
	n := &taskNews{req: r, wake: make(chan struct{}, 1)}
	for _, id := range ids {
		if t := l.server.tasks.find(id, from); t != nil && !slices.Contains(n.tasks, t) {
			n.tasks = append(n.tasks, t)
			n.seen = append(n.seen, t.watch(n.wake))
		}
	}
	if n.tasks == nil {
		return nil
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
		news, version, over := t.news(n.req)
		if version != n.seen[i] {
			n.seen[i] = version
			n.req.notify(methodTaskNews, news)
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
func (t *task) news(r *request) (news taskResult, version int, over bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	news = t.whole(r.link.server, "")
	news.Meta = map[string]any{mcp.MetaKeySubscriptionID: r.msg.id}
	return news, t.version, !t.expires.IsZero()
}
