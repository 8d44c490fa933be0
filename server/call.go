package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/notify"
	"toolcrib/server/outlet"
	"toolcrib/server/run"
	"toolcrib/server/wire"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// The path of a call: a transport gives a message to admit, which admits the request and
// starts serve; serve answers the request and uses call to run the tool with
// [run.Runner.Run].

// Requests that are not answered yet are limited in number and in the bytes of their
// messages. A request over a limit is refused, so that reading never waits for a tool.
// Large messages leave room for small ones. Streams are counted separately, since they
// last.
const (
	maxInFlight      = 4096
	maxStreams       = 1024
	maxInFlightBytes = 64 << 20
	maxLargeBytes    = 48 << 20
	largeMessage     = 64 << 10
)

// admission limits the requests that a transport works on at once.
type admission struct {
	running chan struct{} // calls and reads that run; others wait

	mu       sync.Mutex
	requests int
	streams  int
	bytes    int
}

func newAdmission(running int) *admission {
	return &admission{running: make(chan struct{}, running)}
}

// enter admits the request of a message.
func (a *admission) enter(m *wire.Message) *wire.Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	size, count, most := len(m.Raw), &a.requests, maxInFlight
	if m.Lasting() {
		count, most = &a.streams, maxStreams
	}
	room := maxInFlightBytes
	if size > largeMessage {
		room = maxLargeBytes
	}
	if *count >= most || a.bytes+size > room {
		return &wire.Fault{Code: mcp.INTERNAL_ERROR, Busy: true, Msg: "too many requests are in flight; wait for answers"}
	}
	*count++
	a.bytes += size
	return nil
}

func (a *admission) leave(m *wire.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m.Lasting() {
		a.streams--
	} else {
		a.requests--
	}
	a.bytes -= len(m.Raw)
}

// request is one request of the client from its message to its answer.
type request struct {
	link      *link
	msg       *wire.Message
	out       outlet.Outlet
	key       string // of its id in inflight; "" if it is not in flight
	batch     *batch // nil: answered by itself
	index     int    // in the batch
	ctx       context.Context
	cancel    context.CancelFunc
	progress  *notify.Reporter // nil: the client wants none
	workspace *workspace.Workspace
	abandoned atomic.Bool // the client cancelled it or has its answer: nothing more is sent
}

// answer is the message that ends a request.
type answer struct {
	line []byte
	outlet.Ending
}

// admit takes a message of the client. A request that is not refused is served in a
// function given to spawn, until ctx or the link ends. Its answer goes to out or to the
// batch. The handshake is served at once, since later messages depend on it.
func (l *link) admit(ctx context.Context, m *wire.Message, out outlet.Outlet, b *batch, spawn func(func())) {
	switch {
	case m.Method == "":
		l.asks.answered(m)
		return
	case m.ID == nil:
		l.notified(m)
		return
	}
	r := &request{link: l, msg: m, out: out, batch: b}
	if b != nil {
		r.index = b.expect()
	}
	bad := l.server.refuses(m)
	if bad == nil {
		var token json.RawMessage
		if token, bad = m.ProgressToken(); token != nil {
			r.progress = notify.NewReporter(token, l.server.progressRate, func(params any) {
				r.notify(string(mcp.MethodNotificationProgress), params)
			})
		}
	}
	if bad == nil {
		bad = l.enter(ctx, r)
	}
	switch {
	case bad != nil:
		r.answer(r.refusal(bad))
	case m.Method == string(mcp.MethodInitialize):
		l.serve(r)
	default:
		spawn(func() { l.serve(r) })
	}
}

// enter adds a request to those in flight.
func (l *link) enter(ctx context.Context, r *request) *wire.Fault {
	key := wire.IDKey(r.msg.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return &wire.Fault{Code: mcp.INTERNAL_ERROR, Busy: true, Msg: "the server is shutting down"}
	case l.inflight[key] != nil:
		return wire.Refuse(mcp.INVALID_REQUEST, "id %s belongs to a request that is not answered yet", r.msg.ID)
	}
	if bad := l.admission.enter(r.msg); bad != nil {
		return bad
	}
	r.key = key
	r.ctx, r.cancel = during(ctx, l.ctx)
	if l.inflight == nil {
		l.inflight = map[string]*request{}
	}
	l.inflight[key] = r
	l.wg.Add(1)
	return nil
}

// serve carries out a request and answers it. Notifications of the request are written
// before the answer.
func (l *link) serve(r *request) {
	defer l.wg.Done()
	defer r.cancel()
	if r.msg.Method == string(mcp.MethodToolsCall) || r.msg.Method == string(mcp.MethodResourcesRead) {
		select {
		case l.admission.running <- struct{}{}:
			defer func() { <-l.admission.running }()
		case <-r.ctx.Done():
		}
	}
	var a answer
	defer func() {
		if p := recover(); p != nil {
			a = r.refusal(l.server.panicked(p))
		}
		r.answer(a)
	}()
	who, bad := r.client()
	if bad != nil {
		a = r.refusal(bad)
		return
	}
	ws, release := l.workspace(r)
	defer release()
	r.workspace = ws
	from := &origin{principal: l.principal, client: who, workspace: ws, may: granted(r.ctx), progress: r.progress, log: r.logger(), trace: r.trace()}
	if r.progress != nil {
		defer r.progress.Close() // also if the handler panics
	}
	var response mcp.JSONRPCMessage
	switch {
	case r.msg.Method == string(mcp.MethodToolsCall) && l.server.nativeTool(r.msg) == nil:
		response = l.call(r, from)
	case namesTask(r.msg):
		response = l.task(r, from)
	case r.msg.Lasting():
		response = l.listen(r, from)
	default:
		response = l.forward(r, from)
	}
	if r.progress != nil {
		if last := r.progress.Close(); !last.IsZero() {
			r.out.Settle(r.ctx, last)
		}
	}
	if from.fault != nil {
		a = r.refusal(from.fault)
		return
	}
	a = r.response(response)
}

// maxPasses is the most times that one call may run, when the client answers questions
// during the call.
const maxPasses = 10

// call calls a tool through the runner, not through mcp-go, which takes as long for a
// request as a short call (measured over HTTP, with the client: without mcp-go a call
// takes 62 µs instead of 86 in the older revisions, 68 instead of 103 in the newest).
// Asking the user between the passes would be done here in any case.
func (l *link) call(r *request, from *origin) mcp.JSONRPCMessage {
	name, _ := r.msg.Params.Get("name")
	call := run.Call{Tool: wire.Unquote(name), Session: from.info(), Log: from.logger(wire.Unquote(name)), Trace: from.trace}
	if args, ok := r.msg.Params.Get("arguments"); ok && string(args) != "null" {
		call.Args = args
	} else {
		call.Args = json.RawMessage(`{}`)
	}
	if from.progress != nil {
		call.Progress = from.progress.Report
	}
	if r.msg.Modern() {
		call.Reply = reply(r.msg)
	} else if from.client.Sampling {
		call.Session.Sample = func(ctx context.Context, params any) (json.RawMessage, error) {
			return r.ask(ctx, string(mcp.MethodSamplingCreateMessage), params)
		}
	}
	if task := l.mayLast(from, call); task != nil {
		return l.lasting(r, from, call, task)
	}
	for range maxPasses {
		out := l.server.runner.Run(r.ctx, call)
		if from.fault = protocolFault(call, out); from.fault != nil {
			return nil
		}
		if out.Ask == nil || !from.client.Forms || r.msg.Modern() {
			return l.server.answer(r, l.server.result(call, out))
		}
		answers, err := r.elicit(out.Ask.Forms, from.client.Protocol)
		if err != nil {
			return l.server.answer(r, errorResult(tools.Errorf(tools.Cancelled, "%s: the call was cancelled", call.Tool)))
		}
		call.Reply = &run.Reply{State: out.Ask.State, Answers: answers}
	}
	return l.server.answer(r, errorResult(tools.Errorf(tools.Internal, "%s asks more than %d times", call.Tool, maxPasses)))
}

// forward lets mcp-go carry out a request.
func (l *link) forward(r *request, from *origin) mcp.JSONRPCMessage {
	s := l.newSession(l.id+"/"+r.key, r)
	defer s.drain()
	response := l.server.mcp.HandleMessage(l.server.mcp.WithContext(withOrigin(r.ctx, from), s), r.msg.Raw)
	if _, ok := response.(mcp.JSONRPCResponse); ok && r.msg.Method == string(mcp.MethodInitialize) {
		l.peer.Store(s.peer.kept())
		if l.onPeer != nil {
			l.onPeer()
		}
	}
	return response
}

// answer completes a result with the type and server info that the stateless revision
// requires.
func (s *Server) answer(r *request, res *mcp.CallToolResult) mcp.JSONRPCMessage {
	if r.msg.Modern() {
		if res.ResultType == "" {
			res.ResultType = mcp.ResultTypeComplete
		}
		res.EnsureResultMeta().SetServerInfo(s.info)
	}
	return mcp.JSONRPCResponse{Result: res}
}

// elicit shows forms to the user of a client that opened with initialize. If the client
// answers with an error, the user counts as having given no answer.
func (r *request) elicit(forms map[string]tools.Form, revision string) (map[string]tools.Answer, error) {
	answers := make(map[string]tools.Answer, len(forms))
	for _, id := range slices.Sorted(maps.Keys(forms)) {
		ctx, cancel := r.ctx, context.CancelFunc(func() {})
		if wait := forms[id].Wait; wait > 0 {
			ctx, cancel = context.WithTimeout(ctx, wait)
		}
		raw, err := r.ask(ctx, string(mcp.MethodElicitationCreate), wire.Elicitation(forms[id], revision))
		cancel()
		if r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		answer, ok := wire.ReadAnswer(raw)
		if err != nil || !ok {
			r.link.server.log.Warn("the client did not put the form before its user", "error", err)
			answer = tools.Answer{Action: tools.Cancel}
		}
		answers[id] = wire.Joined(answer, forms[id], revision)
	}
	return answers, nil
}

// protocolFault returns the protocol's error for an outcome of a call, or nil if there is
// none. The stateless revision has such errors; the older revisions have none, except
// that over HTTP a limit is an error in all revisions.
func protocolFault(call run.Call, out run.Outcome) *wire.Fault {
	if out.Err == nil {
		return nil
	}
	if e, ok := errors.AsType[*run.LimitError](out.Err); ok && call.Session.Principal != tools.Local {
		return limited(out.Err, e)
	}
	if !mcp.IsModernProtocol(call.Session.Client.Protocol) {
		return nil
	}
	if errors.Is(out.Err, run.ErrState) {
		return wire.Refuse(mcp.INVALID_PARAMS, "params.requestState: %s", tools.Clip(out.Err.Error()))
	}
	e, ok := errors.AsType[*tools.AbilityError](out.Err)
	if !ok {
		return nil
	}
	return lacking(out.Err.Error(), e.Lacking...)
}

// lacking refuses a request that needs abilities which its client has not declared.
func lacking(msg string, abilities ...tools.Ability) *wire.Fault {
	required, extensions := map[tools.Ability]any{}, map[tools.Ability]struct{}{}
	for _, a := range abilities {
		if strings.Contains(string(a), "/") {
			extensions[a] = struct{}{}
			required["extensions"] = extensions
		} else {
			required[a] = struct{}{}
		}
	}
	return &wire.Fault{
		Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Msg: tools.Clip(msg),
		Data: map[string]any{"requiredCapabilities": required},
	}
}

// limited returns the error of a request over HTTP that exceeds a limit of its principal.
func limited(err *tools.Error, e *run.LimitError) *wire.Fault {
	return &wire.Fault{
		Code: mcp.INTERNAL_ERROR, Msg: tools.Clip(err.Error()), Wait: e.Wait,
		Data: map[string]any{"code": err.Code, "retryAfterMs": e.Wait.Milliseconds()},
	}
}

// client returns the client of the request, from the request's _meta or from the
// handshake.
func (r *request) client() (tools.Client, *wire.Fault) {
	var who peer
	switch p := r.link.peer.Load(); {
	case r.msg.Modern():
		who.version = r.msg.Version()
		for key, part := range map[string]any{mcp.MetaKeyClientInfo: &who.info, mcp.MetaKeyClientCapabilities: &who.caps} {
			raw, ok := r.msg.Meta.Get(key)
			if !ok {
				continue
			}
			if err := json.Unmarshal(raw, part); err != nil {
				return tools.Client{}, wire.Refuse(mcp.INVALID_PARAMS, "params._meta %s: %v", key, err)
			}
		}
	case p != nil:
		who = *p
	default:
		who.version = mcp.ProtocolVersion20250326 // the revision of a client that names none
	}
	return who.client(), nil
}

func (p peer) client() tools.Client {
	_, takesTasks := p.caps.Extensions[string(tools.Tasks)]
	return tools.Client{
		Name: clipped(p.info.Name), Version: clipped(p.info.Version), Protocol: p.version,
		Forms: canAsk(p.version, p.caps), Sampling: p.caps.Sampling != nil, SamplingTools: p.caps.Sampling != nil && p.caps.Sampling.Tools != nil,
		Tasks: takesTasks && mcp.IsModernProtocol(p.version),
	}
}

// answer writes the answer of a request unless the client has abandoned it, and removes
// the request from those in flight.
func (r *request) answer(a answer) {
	if r.batch != nil {
		r.batch.set(r.index, part{r, a.line})
		return
	}
	r.out.Finish(a.Ending, func() []byte {
		if !r.leave() {
			return nil
		}
		return a.line
	})
}

// leave removes a request from those in flight and reports whether its client still
// waits. The id is free again before the client can read the answer.
func (r *request) leave() bool {
	if l := r.link; r.key != "" {
		l.mu.Lock()
		delete(l.inflight, r.key)
		l.mu.Unlock()
		l.admission.leave(r.msg)
	}
	return !r.abandoned.Swap(true)
}

// send writes a message that belongs to the request, unless the request is abandoned or
// answered.
func (r *request) send(line []byte) {
	r.out.Write(func() []byte {
		if r.abandoned.Load() {
			return nil
		}
		return line
	})
}

func (r *request) notify(method string, params any) {
	if line := r.link.server.notification(method, params); line != nil {
		r.send(line)
	}
}

// logger returns the logger of the request, or nil if its client wants no log. In the
// stateless revision every request names its own log level.
func (r *request) logger() *slog.Logger {
	level := *r.link.level.Load()
	if r.msg.Modern() {
		raw, ok := r.msg.Meta.Get(mcp.MetaKeyLogLevel)
		if !ok || raw[0] != '"' {
			return nil
		}
		level = mcp.LoggingLevel(wire.Unquote(raw))
	} else if r.link.peer.Load() == nil {
		return nil
	}
	return notify.NewLogger(string(level), func(params any) { r.notify(string(mcp.MethodNotificationMessage), params) })
}

// response encodes a response. If that fails, it returns an internal error, since every
// request must be answered.
func (r *request) response(response mcp.JSONRPCMessage) answer {
	line, err := wire.AppendResponse(r.out.Room(), r.msg.ID, response)
	if err != nil {
		r.link.server.log.Error("encode response", "method", r.msg.Method, "error", err)
		return r.refusal(wire.Refuse(mcp.INTERNAL_ERROR, "the result cannot be written as JSON"))
	}
	if failed, ok := response.(mcp.JSONRPCError); ok {
		return answer{line, outlet.Ending{Status: r.status(failed.Error.Code)}}
	}
	return answer{line, outlet.Ending{Status: http.StatusOK}}
}

// refusal returns the answer that refuses the request.
func (r *request) refusal(bad *wire.Fault) answer {
	bad.ID = r.msg.ID
	switch {
	case bad.Wait > 0:
		return answer{bad.Line(), outlet.Ending{Status: http.StatusTooManyRequests, Wait: bad.Wait}}
	case bad.Busy:
		return answer{bad.Line(), outlet.Ending{Status: http.StatusServiceUnavailable}}
	}
	return answer{bad.Line(), outlet.Ending{Status: r.status(bad.Code)}}
}

// status returns the HTTP status of an error. In the older revisions, a request that was
// understood has the status of a result.
func (r *request) status(code int) int {
	if r.msg.Modern() {
		return statusOf(code)
	}
	return http.StatusOK
}

// during returns a context that ends when either of two ends.
func during(ctx, other context.Context) (context.Context, context.CancelFunc) {
	same := ctx == other
	ctx, cancel := context.WithCancel(ctx)
	if same {
		return ctx, cancel
	}
	stop := context.AfterFunc(other, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// statusOf returns the HTTP status that revision 2026-07-28 defines for an error code;
// code 0 is a result.
func statusOf(code int) int {
	switch code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
