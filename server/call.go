package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/run"
	"toolcrib/server/wire"
	"toolcrib/tools"
)

// maxPasses is how often one call may come back from asking the user of a client
// that is asked in the middle of it.
const maxPasses = 10

// call calls a tool: between the transport and the runner. mcp-go has no part in
// it, since its way through a request costs as much as a short call (measured over
// HTTP, with the client: without it a call takes 62 µs instead of 86 in the older
// eras, 68 instead of 103 in the newest), and asking the user between the passes is
// ours in any case.
func (l *link) call(ctx context.Context, r *request, from *origin) mcp.JSONRPCMessage {
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
	}
	if place := l.mayLast(from, call.Tool); place != nil {
		return l.lasting(ctx, r, from, call, place)
	}
	for range maxPasses {
		out := l.server.runner.Run(ctx, call)
		if from.fault = protocolFault(call, out); from.fault != nil {
			return nil
		}
		if out.Ask == nil || !from.client.Forms || r.msg.Modern() {
			return l.server.answer(r, l.server.result(call, out))
		}
		answers, err := r.elicit(ctx, out.Ask.Forms, from.client.Protocol)
		if err != nil {
			return l.server.answer(r, errorResult(tools.Errorf(tools.Cancelled, "%s: the call was cancelled", call.Tool)))
		}
		call.Reply = &run.Reply{State: out.Ask.State, Answers: answers}
	}
	return l.server.answer(r, errorResult(tools.Errorf(tools.Internal, "%s asks more than %d times", call.Tool, maxPasses)))
}

// answer adds what a result of the stateless era says of itself.
func (s *Server) answer(r *request, res *mcp.CallToolResult) mcp.JSONRPCMessage {
	if r.msg.Modern() {
		if res.ResultType == "" {
			res.ResultType = mcp.ResultTypeComplete
		}
		res.EnsureResultMeta().SetServerInfo(s.info)
	}
	return mcp.JSONRPCResponse{Result: res}
}

// elicit puts forms before the user of a client of the handshake's era. A client
// that answers with an error counts as a user who gives no answer.
func (r *request) elicit(ctx context.Context, forms map[string]tools.Form, revision string) (map[string]tools.Answer, error) {
	answers := make(map[string]tools.Answer, len(forms))
	for _, id := range slices.Sorted(maps.Keys(forms)) {
		raw, err := r.ask(ctx, string(mcp.MethodElicitationCreate), wire.Elicitation(forms[id], revision))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		answer, ok := wire.ReadAnswer(raw)
		if err != nil || !ok {
			r.link.server.log.Warn("the client did not put the form before its user", "error", err)
			answer = tools.Answer{Action: tools.Cancel}
		}
		answers[id] = answer
	}
	return answers, nil
}

// protocolFault is how a request of the stateless era ends where the protocol
// has an error for what stopped the call; the older eras know no such errors, but HTTP
// has one for limits in all of them.
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

// lacking refuses a request whose client has not declared what it needs.
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

// limited is how a request over HTTP ends that is over a limit of its principal.
func limited(err *tools.Error, e *run.LimitError) *wire.Fault {
	return &wire.Fault{
		Code: mcp.INTERNAL_ERROR, Msg: tools.Clip(err.Error()), Wait: e.Wait,
		Data: map[string]any{"code": err.Code, "retryAfterMs": e.Wait.Milliseconds()},
	}
}

// client says who makes the request: by its own _meta, or by the handshake.
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
		who.version = mcp.ProtocolVersion20250326 // what a client speaks that names none
	}
	return who.client(), nil
}

func (p peer) client() tools.Client {
	_, takesTasks := p.caps.Extensions[string(tools.Tasks)]
	return tools.Client{
		Name: clipped(p.info.Name), Version: clipped(p.info.Version), Protocol: p.version,
		Forms: canAsk(p.version, p.caps), Sampling: p.caps.Sampling != nil,
		Tasks: takesTasks && mcp.IsModernProtocol(p.version),
	}
}
