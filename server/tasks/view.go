package tasks

import (
	"encoding/json"
	"time"
)

// The kinds of results.
const (
	complete = "complete"
	begun    = "task"
)

// View is a task as the client sees it: what tools/call returns when a call has
// become one, and with the outcome what tasks/get returns.
type View struct {
	Meta     map[string]any          `json:"_meta"`
	Type     string                  `json:"resultType,omitempty"` // "" in a notification
	ID       string                  `json:"taskId"`
	Status   Status                  `json:"status"`
	Message  string                  `json:"statusMessage,omitempty"`
	Created  string                  `json:"createdAt"`
	Updated  string                  `json:"lastUpdatedAt"`
	TTL      *int64                  `json:"ttlMs"` // from the creation; null while the call goes on
	Poll     int64                   `json:"pollIntervalMs,omitempty"`
	Requests map[string]inputRequest `json:"inputRequests,omitempty"`
	Result   json.RawMessage         `json:"result,omitempty"`
	Error    json.RawMessage         `json:"error,omitempty"`
}

// Begun returns a task as the call that has become one is answered.
func (t *Task) Begun() View {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown(begun)
}

// shown returns the state of a task without its outcome. The caller holds mu.
func (t *Task) shown(kind string) View {
	const layout = "2006-01-02T15:04:05.000Z"
	r := View{
		Meta: t.store.meta, Type: kind, ID: t.ID, Status: t.status, Message: t.message,
		Created: t.created.UTC().Format(layout), Updated: t.updated.UTC().Format(layout),
	}
	if t.expires.IsZero() {
		r.Poll = min(max(time.Since(t.created)/10, soonest), latest).Milliseconds()
	} else {
		r.TTL = new(t.expires.Sub(t.created).Milliseconds())
	}
	return r
}

// Detail returns a task with its outcome. One that was seen is not kept for long.
func (t *Task) Detail() View {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.expires.IsZero() && !t.fetched && t.expiry.Stop() {
		t.fetched = true
		if soon := time.Now().Add(fetched); soon.Before(t.expires) {
			t.expires = soon
		}
		t.expiry.Reset(time.Until(t.expires))
	}
	return t.whole(complete)
}

// whole returns a task with its outcome. The caller holds mu.
func (t *Task) whole(kind string) View {
	r := t.shown(kind)
	r.Result = t.result
	if t.fault != nil {
		r.Error = t.fault.Detail()
	}
	if len(t.pending) > 0 {
		r.Requests = map[string]inputRequest{}
		for key, form := range t.pending {
			r.Requests[key] = form.request
		}
	}
	return r
}
