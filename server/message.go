package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// message is one JSON-RPC message, taken apart as far as a transport needs it.
// Everything but raw points into the text that it was read from.
type message struct {
	raw    json.RawMessage
	id     json.RawMessage // as it was written; nil: a notification
	method string          // "": a response
	params members
	meta   members // params._meta
	result json.RawMessage
	err    json.RawMessage

	paramsText json.RawMessage // params as they were written
}

// fault is a message that is refused: a JSON-RPC error.
type fault struct {
	id   json.RawMessage // nil: not known
	code int
	msg  string
	data any
	busy bool          // the same may be accepted later
	wait time.Duration // likewise, after that; 0 = it is not known
}

func (f *fault) Error() string { return f.msg }

// line returns the error response.
func (f *fault) line() []byte { return encoded(appendFault(nil, f)) }

// detail returns the error of the response alone.
func (f *fault) detail() json.RawMessage { return encoded(appendDetail(nil, f)) }

func encoded(text []byte, err error) []byte {
	if err != nil { // the data of a fault is ours and can be encoded
		panic(err)
	}
	return text
}

func refuse(code int, format string, args ...any) *fault {
	return &fault{code: code, msg: fmt.Sprintf(format, args...)}
}

// The keys that encoding/json would also find in another case. A gateway in
// front of the server may read them exactly, so another case is refused: both
// must see the same message.
var (
	envelopeKeys = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	paramsKeys   = []string{
		"_meta", "name", "arguments", "task", "inputResponses", "requestState", "cursor",
		"protocolVersion", "capabilities", "clientInfo", "level", "notifications", "requestId", "uri", "taskId",
	}
)

// text proves that a line is UTF-8 and JSON, and returns it without the space
// around it.
func text(line []byte) (json.RawMessage, *fault) {
	bad := (*fault)(nil)
	if !utf8.Valid(line) {
		bad = refuse(mcp.PARSE_ERROR, "the message is not UTF-8")
	} else if !json.Valid(line) {
		err := json.Unmarshal(line, new(json.RawMessage))
		bad = refuse(mcp.PARSE_ERROR, "the message is not JSON: %v", err)
	}
	if bad != nil {
		bad.id = idOf(line)
		return nil, bad
	}
	return bytes.TrimSpace(line), nil
}

// parse takes a message apart. raw must have passed text. Without a message and
// a fault there is nothing to do: a response that says nothing we could use, or
// a notification with wrong params. Neither is ever answered, or two strict
// peers would complain to each other for ever.
func parse(raw json.RawMessage) (*message, *fault) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, refuse(mcp.INVALID_REQUEST, "a message is a JSON object")
	}
	m := &message{raw: raw}
	envelope := split(raw)
	bad := envelope.check(envelopeKeys)
	id, hasID := envelope.get("id")
	switch {
	case hasID && validID(id) && envelope.count("id") == 1:
		m.id = id
	case hasID && bad == nil:
		bad = refuse(mcp.INVALID_REQUEST, "id must be a string or an integer")
	case !hasID && bad != nil: // it may stand behind the last key that was looked at
		m.id = idOf(raw)
	}
	if bad == nil {
		bad = m.fill(envelope)
	}
	if bad == nil {
		return m, nil
	}
	isResponse := envelope.count("method") == 0 && envelope.count("result")+envelope.count("error") > 0
	if isResponse || !hasID && bad.code == mcp.INVALID_PARAMS {
		return nil, nil
	}
	bad.id = m.id
	return nil, bad
}

func (m *message) fill(envelope members) *fault {
	if v, _ := envelope.get("jsonrpc"); string(v) != `"2.0"` {
		return refuse(mcp.INVALID_REQUEST, `jsonrpc must be "2.0"`)
	}
	var hasResult, hasError bool
	m.result, hasResult = envelope.get("result")
	m.err, hasError = envelope.get("error")
	method, ok := envelope.get("method")
	switch {
	case !ok && m.id != nil && hasResult != hasError:
		return nil
	case !ok:
		return refuse(mcp.INVALID_REQUEST, "the message has no method")
	case method[0] != '"':
		return refuse(mcp.INVALID_REQUEST, "method must be a string")
	case len(method) == len(`""`):
		return refuse(mcp.METHOD_NOT_FOUND, "the method has no name") // "" stands for a response
	case hasResult || hasError:
		return refuse(mcp.INVALID_REQUEST, "a request has no result and no error")
	}
	m.method = unquote(method)
	params, ok := envelope.get("params")
	if !ok || string(params) == "null" {
		return nil
	}
	if params[0] != '{' {
		return refuse(mcp.INVALID_PARAMS, "params must be an object")
	}
	m.params, m.paramsText = split(params), params
	if bad := m.params.check(paramsKeys); bad != nil {
		return refuse(mcp.INVALID_PARAMS, "params: %s", bad.msg)
	}
	meta, ok := m.params.get("_meta")
	if !ok || string(meta) == "null" {
		return nil
	}
	if meta[0] != '{' {
		return refuse(mcp.INVALID_PARAMS, "params._meta must be an object")
	}
	m.meta = split(meta)
	if bad := m.meta.check(nil); bad != nil {
		return refuse(mcp.INVALID_PARAMS, "params._meta: %s", bad.msg)
	}
	return nil
}

// revision checks the protocol revision that a request names in its _meta. One
// that names none, or a revision that is opened by initialize, is served in the
// era of the handshake.
func (m *message) revision() *fault {
	raw, named := m.meta.get(mcp.MetaKeyProtocolVersion)
	if !named {
		if m.method == string(mcp.MethodServerDiscover) || m.method == string(mcp.MethodSubscriptionsListen) ||
			m.meta.count(mcp.MetaKeyClientCapabilities) > 0 {
			return refuse(mcp.INVALID_PARAMS, "params._meta has no %s", mcp.MetaKeyProtocolVersion)
		}
		return nil
	}
	if raw[0] != '"' {
		return refuse(mcp.INVALID_PARAMS, "%s must be a string", mcp.MetaKeyProtocolVersion)
	}
	version := unquote(raw)
	if !mcp.IsValidProtocolVersion(version) {
		return unsupported(version)
	}
	if caps, _ := m.meta.get(mcp.MetaKeyClientCapabilities); mcp.IsModernProtocol(version) && (caps == nil || caps[0] != '{') {
		return refuse(mcp.INVALID_PARAMS, "params._meta has no object %s", mcp.MetaKeyClientCapabilities)
	}
	return nil
}

// modern reports whether a request belongs to the stateless era. A version that
// does not exist belongs to none; [message.revision] refuses it.
func (m *message) modern() bool { return mcp.IsModernProtocol(m.version()) }

// lasting reports whether a request is a stream that ends with the client or the
// server.
func (m *message) lasting() bool { return m.method == string(mcp.MethodSubscriptionsListen) }

// version returns the revision that a message names in its _meta, "" if none.
func (m *message) version() string {
	if raw, ok := m.meta.get(mcp.MetaKeyProtocolVersion); ok && raw[0] == '"' {
		return unquote(raw)
	}
	return ""
}

// unsupported refuses a revision that the server does not speak.
func unsupported(version string) *fault {
	return &fault{
		code: mcp.UNSUPPORTED_PROTOCOL_VERSION,
		msg:  fmt.Sprintf("protocol revision %q is not supported", version),
		data: mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: version},
	}
}

// progressToken returns the token of a request that wants progress, nil
// otherwise.
func (m *message) progressToken() (json.RawMessage, *fault) {
	token, ok := m.meta.get("progressToken")
	if !ok || string(token) == "null" {
		return nil, nil
	}
	if !validID(token) {
		return nil, refuse(mcp.INVALID_PARAMS, "progressToken must be a string or an integer")
	}
	return token, nil
}

// validID reports whether raw is a string or an integer of 64 bits.
func validID(raw json.RawMessage) bool {
	if raw[0] == '"' {
		return true
	}
	_, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil
}

// idKey tells ids apart however they are spelled: "a" and "\u0061" are one.
func idKey(id json.RawMessage) string {
	if id[0] == '"' {
		return `"` + unquote(id)
	}
	n, _ := strconv.ParseInt(string(id), 10, 64) // validID parsed it before
	return strconv.FormatInt(n, 10)
}

// members are the members of a JSON object in the order of its text.
type members []member

type member struct {
	key   string
	value json.RawMessage
}

func (ms members) get(key string) (json.RawMessage, bool) {
	for _, m := range ms {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

func (ms members) count(key string) int {
	n := 0
	for _, m := range ms {
		if m.key == key {
			n++
		}
	}
	return n
}

// check refuses a key that stands twice, and one that is a known key in another
// case.
func (ms members) check(known []string) *fault {
	if len(ms) > maxMembers {
		return refuse(mcp.INVALID_REQUEST, "an object has more than %d keys", maxMembers)
	}
	seen := make(map[string]struct{}, len(ms))
	for _, m := range ms {
		if _, twice := seen[m.key]; twice {
			return refuse(mcp.INVALID_REQUEST, "the key %q stands twice", m.key)
		}
		seen[m.key] = struct{}{}
		if slices.Contains(known, m.key) {
			continue
		}
		for _, k := range known {
			if strings.EqualFold(k, m.key) {
				return refuse(mcp.INVALID_REQUEST, "the key %q must be written %q", m.key, k)
			}
		}
	}
	return nil
}

// tellable is a text of the client that is safe to say back.
func tellable(text string) string {
	const most = 100
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strings.ToValidUTF8(text, "?")
}

// text returns a member that is a string, "" otherwise.
func (ms members) text(key string) string {
	raw, ok := ms.get(key)
	if !ok || raw[0] != '"' {
		return ""
	}
	return unquote(raw)
}
