package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/run"
	"toolcrib/server/tasks"
	"toolcrib/server/wire"
	"toolcrib/tools"
)

// The Tasks extension of revision 2026-07-28 (SEP-2663), which mcp-go does not have: a
// client that declares it gets a task instead of a result if the call of a tool that
// streams lasts, and asks for the result by tasks/get. A call that ends or asks its user
// before that is answered like any other.

// TaskAfter is how long a call lasts before it becomes a task.
const TaskAfter = 2 * time.Second

// The methods of the extension.
const (
	methodTaskGet    = "tasks/get"
	methodTaskUpdate = "tasks/update"
	methodTaskCancel = "tasks/cancel"
)

// namesTask reports whether a request is about a task. The older revisions have methods
// of the same names, which this server does not offer.
func namesTask(m *wire.Message) bool {
	return m.Modern() && slices.Contains([]string{methodTaskGet, methodTaskUpdate, methodTaskCancel}, m.Method)
}

// beyond holds the calls of a transport that outlast the request which began them.
type beyond struct {
	ctx   context.Context // ends them
	calls sync.WaitGroup
}

// wait waits until the calls have ended, at most for patience.
func (b *beyond) wait(patience time.Duration) {
	done := make(chan struct{})
	go func() {
		b.calls.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// mayLast returns the task that a call becomes if it lasts, or nil if it must be answered
// directly, however long it takes.
func (l *link) mayLast(from *origin, call run.Call) *tasks.Task {
	if !from.client.Tasks || l.beyond == nil {
		return nil
	}
	if t, ok := l.server.tool(call.Tool, call.Args); ok && t.Streams {
		return l.server.tasks.Begin(l.principal, t)
	}
	return nil
}

// lasting calls a tool and answers with the outcome if the call ends in time, else with
// the task that it has become.
func (l *link) lasting(r *request, from *origin, call run.Call, t *tasks.Task) mcp.JSONRPCMessage {
	call.Session.Lasting = true
	report := call.Progress
	call.Progress = func(e tools.ProgressEvent) {
		t.Progress(e)
		if report != nil {
			report(e)
		}
	}
	running := l.server.runner.Start(context.WithoutCancel(r.ctx), call)
	attached := context.AfterFunc(r.ctx, running.Cancel)
	timer := time.NewTimer(l.server.taskAfter)
	defer timer.Stop()
	select {
	case <-running.Done():
	case <-timer.C:
		if l.beyond.ctx.Err() == nil && attached() {
			return mcp.JSONRPCResponse{Result: l.adopt(t, running, call)}
		}
	}
	out := running.Wait()
	attached()
	running.Cancel() // one that asks goes on by its state
	l.server.tasks.Drop(t)
	if from.fault = protocolFault(call, out); from.fault != nil {
		return nil
	}
	return l.server.answer(r, l.server.result(call, out))
}

// adopt makes a running call a task, independent of the request that began it.
func (l *link) adopt(t *tasks.Task, running *run.Running, call run.Call) tasks.View {
	s := l.server
	s.tasks.Keep(t, running)
	created := t.Begun()
	l.wg.Add(1) // the workspace of the link stays
	l.beyond.calls.Go(func() {
		defer l.wg.Done()
		ending := context.AfterFunc(l.beyond.ctx, func() { t.Stop("the server is shutting down") })
		defer ending()
		t.Follow(call.Session.Client, func(out run.Outcome) (json.RawMessage, *wire.Fault) { return s.taskResult(call, out) })
	})
	return created
}

// taskResult encodes the outcome of a task's call: a result, or an error instead.
func (s *Server) taskResult(call run.Call, out run.Outcome) (json.RawMessage, *wire.Fault) {
	if bad := protocolFault(call, out); bad != nil {
		return nil, bad
	}
	res := s.result(call, out)
	res.ResultType = mcp.ResultTypeComplete
	result, err := wire.AppendCallResult(nil, res)
	if err != nil {
		s.log.Error("encode the result of a task", "tool", call.Tool, "error", err)
		return nil, wire.Refuse(mcp.INTERNAL_ERROR, "the result cannot be written as JSON")
	}
	return result, nil
}

// taskNews returns the news of the tasks that a listen request names and that the client
// may know of; nil if it names none.
func (l *link) taskNews(r *request, from *origin) *tasks.News {
	wanted, ok := r.msg.Params.Get("notifications")
	if !ok || wanted[0] != '{' {
		return nil
	}
	raw, ok := wire.Split(wanted).Get("taskIds")
	if !ok {
		return nil
	}
	if !from.client.Tasks {
		from.fault = lacking("notifications.taskIds needs the extension "+string(tools.Tasks)+", which the client has not declared", tools.Tasks)
		return nil
	}
	var ids []string
	if json.Unmarshal(raw, &ids) != nil {
		from.fault = wire.Refuse(mcp.INVALID_PARAMS, "params.notifications.taskIds must be a list of ids of tasks")
		return nil
	}
	var named []*tasks.Task
	for _, id := range ids {
		if t := l.server.tasks.Find(id, from.principal, from.may); t != nil {
			named = append(named, t)
		}
	}
	return tasks.Watch(named, map[string]any{mcp.MetaKeySubscriptionID: r.msg.ID}, r.notify)
}

// task carries out a request about a task.
func (l *link) task(r *request, from *origin) mcp.JSONRPCMessage {
	s := l.server
	if !from.client.Tasks {
		from.fault = lacking(r.msg.Method+" needs the extension "+string(tools.Tasks)+", which the client has not declared", tools.Tasks)
		return nil
	}
	raw, _ := r.msg.Params.Get("taskId")
	if len(raw) == 0 || raw[0] != '"' {
		from.fault = wire.Refuse(mcp.INVALID_PARAMS, "params.taskId must be the id of a task")
		return nil
	}
	t := s.tasks.Find(wire.Unquote(raw), from.principal, from.may)
	if t == nil {
		from.fault = wire.Refuse(mcp.INVALID_PARAMS, "there is no task %q, or not any more: a result is kept for %s, and no longer than the server runs", tools.Clip(wire.Unquote(raw)), tasks.Kept)
		return nil
	}
	switch r.msg.Method {
	case methodTaskGet:
		return mcp.JSONRPCResponse{Result: t.Detail()}
	case methodTaskUpdate:
		responses, ok := r.msg.Params.Get("inputResponses")
		if !ok || responses[0] != '{' {
			from.fault = wire.Refuse(mcp.INVALID_PARAMS, "params.inputResponses must be an object")
			return nil
		}
		t.Update(wire.Split(responses))
	case methodTaskCancel:
		t.Stop("cancelled by the client")
	}
	return mcp.JSONRPCResponse{Result: acknowledgement{s.meta(), mcp.ResultTypeComplete}}
}

// acknowledgement is the empty result of a request.
type acknowledgement struct {
	Meta map[string]any `json:"_meta"`
	Type mcp.ResultType `json:"resultType"`
}

// meta returns the _meta of a result of the stateless revision.
func (s *Server) meta() map[string]any { return map[string]any{mcp.MetaKeyServerInfo: s.info} }
