// Package wire reads and writes JSON-RPC lines: it checks and parses the messages of a
// client, and encodes the messages to it.
//
// It knows nothing of connections, calls or tools. Start at [Parse]; scan.go walks values
// and lines, encode.go writes messages, form.go encodes questions to the user. It imports
// mcp-go only for the types and numbers of the protocol.
package wire

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

// Message is one JSON-RPC message, parsed as far as a transport needs it. Everything but
// raw points into the text that it was read from.
type Message struct {
	Raw    json.RawMessage
	ID     json.RawMessage // as it was written; nil: a notification
	Method string          // "": a response
	Params Members
	Meta   Members // params._meta
	Result json.RawMessage
	Err    json.RawMessage

	ParamsText json.RawMessage // params as they were written
}

// Fault is a message that is refused: a JSON-RPC error.
type Fault struct {
	ID   json.RawMessage // nil: not known
	Code int
	Msg  string
	Data any
	Busy bool          // the same may be accepted later
	Wait time.Duration // likewise, after that; 0 = it is not known
}

func (f *Fault) Error() string { return f.Msg }

// Line returns the error response.
func (f *Fault) Line() []byte { return encoded(appendFault(nil, f)) }

// Detail returns the error of the response alone.
func (f *Fault) Detail() json.RawMessage { return encoded(appendDetail(nil, f)) }

func encoded(text []byte, err error) []byte {
	if err != nil { // the data of a fault is ours and can be encoded
		panic(err)
	}
	return text
}

// Refuse returns a fault with a code of JSON-RPC.
func Refuse(code int, format string, args ...any) *Fault {
	return &Fault{Code: code, Msg: fmt.Sprintf(format, args...)}
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

// Text checks that a line is UTF-8 and JSON, and returns it without surrounding space.
func Text(line []byte) (json.RawMessage, *Fault) {
	bad := (*Fault)(nil)
	if !utf8.Valid(line) {
		bad = Refuse(mcp.PARSE_ERROR, "the message is not UTF-8")
	} else if !json.Valid(line) {
		err := json.Unmarshal(line, new(json.RawMessage))
		bad = Refuse(mcp.PARSE_ERROR, "the message is not JSON: %v", err)
	}
	if bad != nil {
		bad.ID = IDOf(line)
		return nil, bad
	}
	return bytes.TrimSpace(line), nil
}

// Parse parses a message. raw must have passed Text. If it returns neither a message nor
// a fault, the message is ignored: it is an unusable response, or a notification with
// wrong params. These must not be answered, or two strict peers would complain to each
// other forever.
func Parse(raw json.RawMessage) (*Message, *Fault) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, Refuse(mcp.INVALID_REQUEST, "a message is a JSON object")
	}
	m := &Message{Raw: raw}
	envelope := Split(raw)
	bad := envelope.Check(envelopeKeys)
	id, hasID := envelope.Get("id")
	switch {
	case hasID && ValidID(id) && envelope.count("id") == 1:
		m.ID = id
	case hasID && bad == nil:
		bad = Refuse(mcp.INVALID_REQUEST, "id must be a string or an integer")
	case !hasID && bad != nil: // it may come after the last key that was looked at
		m.ID = IDOf(raw)
	}
	if bad == nil {
		bad = m.fill(envelope)
	}
	if bad == nil {
		return m, nil
	}
	isResponse := envelope.count("method") == 0 && envelope.count("result")+envelope.count("error") > 0
	if isResponse || !hasID && bad.Code == mcp.INVALID_PARAMS {
		return nil, nil
	}
	bad.ID = m.ID
	return nil, bad
}

func (m *Message) fill(envelope Members) *Fault {
	if v, _ := envelope.Get("jsonrpc"); string(v) != `"2.0"` {
		return Refuse(mcp.INVALID_REQUEST, `jsonrpc must be "2.0"`)
	}
	var hasResult, hasError bool
	m.Result, hasResult = envelope.Get("result")
	m.Err, hasError = envelope.Get("error")
	method, ok := envelope.Get("method")
	switch {
	case !ok && m.ID != nil && hasResult != hasError:
		return nil
	case !ok:
		return Refuse(mcp.INVALID_REQUEST, "the message has no method")
	case method[0] != '"':
		return Refuse(mcp.INVALID_REQUEST, "method must be a string")
	case len(method) == len(`""`):
		return Refuse(mcp.METHOD_NOT_FOUND, "the method has no name") // "" marks a response
	case hasResult || hasError:
		return Refuse(mcp.INVALID_REQUEST, "a request has no result and no error")
	}
	m.Method = Unquote(method)
	params, ok := envelope.Get("params")
	if !ok || string(params) == "null" {
		return nil
	}
	if params[0] != '{' {
		return Refuse(mcp.INVALID_PARAMS, "params must be an object")
	}
	m.Params, m.ParamsText = Split(params), params
	if bad := m.Params.Check(paramsKeys); bad != nil {
		return Refuse(mcp.INVALID_PARAMS, "params: %s", bad.Msg)
	}
	meta, ok := m.Params.Get("_meta")
	if !ok || string(meta) == "null" {
		return nil
	}
	if meta[0] != '{' {
		return Refuse(mcp.INVALID_PARAMS, "params._meta must be an object")
	}
	m.Meta = Split(meta)
	if bad := m.Meta.Check(nil); bad != nil {
		return Refuse(mcp.INVALID_PARAMS, "params._meta: %s", bad.Msg)
	}
	return nil
}

// CheckRevision checks the protocol revision that a request names in its _meta. A request
// that names none, or a revision that opens with initialize, is served as one of the
// older revisions.
func (m *Message) CheckRevision() *Fault {
	raw, named := m.Meta.Get(mcp.MetaKeyProtocolVersion)
	if !named {
		if m.Method == string(mcp.MethodServerDiscover) || m.Method == string(mcp.MethodSubscriptionsListen) ||
			m.Meta.count(mcp.MetaKeyClientCapabilities) > 0 {
			return Refuse(mcp.INVALID_PARAMS, "params._meta has no %s", mcp.MetaKeyProtocolVersion)
		}
		return nil
	}
	if raw[0] != '"' {
		return Refuse(mcp.INVALID_PARAMS, "%s must be a string", mcp.MetaKeyProtocolVersion)
	}
	version := Unquote(raw)
	if !mcp.IsValidProtocolVersion(version) {
		return Unsupported(version)
	}
	if caps, _ := m.Meta.Get(mcp.MetaKeyClientCapabilities); mcp.IsModernProtocol(version) && (caps == nil || caps[0] != '{') {
		return Refuse(mcp.INVALID_PARAMS, "params._meta has no object %s", mcp.MetaKeyClientCapabilities)
	}
	return nil
}

// Modern reports whether a request is of the stateless revision. [Message.CheckRevision]
// refuses unknown versions.
func (m *Message) Modern() bool { return mcp.IsModernProtocol(m.Version()) }

// Lasting reports whether a request is a stream that ends with the client or the
// server.
func (m *Message) Lasting() bool { return m.Method == string(mcp.MethodSubscriptionsListen) }

// Version returns the revision that a message names in its _meta, "" if none.
func (m *Message) Version() string {
	if raw, ok := m.Meta.Get(mcp.MetaKeyProtocolVersion); ok && raw[0] == '"' {
		return Unquote(raw)
	}
	return ""
}

// Unsupported refuses a revision that the server does not speak.
func Unsupported(version string) *Fault {
	return &Fault{
		Code: mcp.UNSUPPORTED_PROTOCOL_VERSION,
		Msg:  fmt.Sprintf("protocol revision %q is not supported", version),
		Data: mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: version},
	}
}

// ProgressToken returns the token of a request that wants progress, nil
// otherwise.
func (m *Message) ProgressToken() (json.RawMessage, *Fault) {
	token, ok := m.Meta.Get("progressToken")
	if !ok || string(token) == "null" {
		return nil, nil
	}
	if !ValidID(token) {
		return nil, Refuse(mcp.INVALID_PARAMS, "progressToken must be a string or an integer")
	}
	return token, nil
}

// ValidID reports whether raw is a string or an integer of 64 bits.
func ValidID(raw json.RawMessage) bool {
	if raw[0] == '"' {
		return true
	}
	_, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil
}

// IDKey returns the same key for all spellings of an id: "a" and "\u0061" are one.
func IDKey(id json.RawMessage) string {
	if id[0] == '"' {
		return `"` + Unquote(id)
	}
	n, _ := strconv.ParseInt(string(id), 10, 64) // ValidID parsed it before
	return strconv.FormatInt(n, 10)
}

// Members are the members of a JSON object in the order of its text.
type Members []member

type member struct {
	Key   string
	Value json.RawMessage
}

// Get returns the value of the first member with a key.
func (ms Members) Get(key string) (json.RawMessage, bool) {
	for _, m := range ms {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

func (ms Members) count(key string) int {
	n := 0
	for _, m := range ms {
		if m.Key == key {
			n++
		}
	}
	return n
}

// Check refuses a duplicate key, and a known key in another case.
func (ms Members) Check(known []string) *Fault {
	if len(ms) > maxMembers {
		return Refuse(mcp.INVALID_REQUEST, "an object has more than %d keys", maxMembers)
	}
	seen := make(map[string]struct{}, len(ms))
	for _, m := range ms {
		if _, twice := seen[m.Key]; twice {
			return Refuse(mcp.INVALID_REQUEST, "the key %q appears twice", m.Key)
		}
		seen[m.Key] = struct{}{}
		if slices.Contains(known, m.Key) {
			continue
		}
		for _, k := range known {
			if strings.EqualFold(k, m.Key) {
				return Refuse(mcp.INVALID_REQUEST, "the key %q must be written %q", m.Key, k)
			}
		}
	}
	return nil
}

// Tellable returns a text of the client made safe to quote in an answer.
func Tellable(text string) string {
	const most = 100
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strings.ToValidUTF8(text, "?")
}

// Text returns a member that is a string, "" otherwise.
func (ms Members) Text(key string) string {
	raw, ok := ms.Get(key)
	if !ok || raw[0] != '"' {
		return ""
	}
	return Unquote(raw)
}
