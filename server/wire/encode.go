package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/tools"
)

// The encoder writes messages onto a byte slice. It exists because a result
// passes through several MarshalJSON methods of mcp-go, each of which copies,
// checks and escapes the whole text again: here a text is copied once. Text is
// not escaped for HTML.

// AppendResponse appends the response to the request id: a result or error as
// mcp-go returns it.
func AppendResponse(dst []byte, id json.RawMessage, msg mcp.JSONRPCMessage) ([]byte, error) {
	switch msg := msg.(type) {
	case mcp.JSONRPCResponse:
		dst = append(appendHead(dst, id), `,"result":`...)
		var err error
		switch result := msg.Result.(type) {
		case *mcp.CallToolResult:
			dst, err = AppendCallResult(dst, result)
		case mcp.ListToolsResult:
			dst, err = AppendToolList(dst, result)
		default:
			dst, err = appendJSON(dst, msg.Result)
		}
		return append(dst, '}'), err
	case mcp.JSONRPCError:
		return appendFault(dst, &Fault{ID: id, Code: msg.Error.Code, Msg: msg.Error.Message, Data: msg.Error.Data})
	default:
		return dst, fmt.Errorf("a request ended with %T", msg)
	}
}

// appendFault appends the error response to a message that was refused.
func appendFault(dst []byte, f *Fault) ([]byte, error) {
	dst, err := appendDetail(append(appendHead(dst, f.ID), `,"error":`...), f)
	return append(dst, '}'), err
}

// appendDetail appends the details of a fault for the client. Text from the request is made
// fit to be shown: without characters that deceive, and no longer than an error may be.
func appendDetail(dst []byte, f *Fault) ([]byte, error) {
	raw, err := appendJSON(nil, mcp.JSONRPCErrorDetails{Code: f.Code, Message: f.Msg, Data: f.Data})
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			dst = append(dst, raw[i])
			i++
			continue
		}
		end := stringEnd(raw, i)
		dst = AppendString(dst, tools.Clip(tools.Visible(Unquote(raw[i:end]))))
		i = end
	}
	return dst, err
}

// AppendCall appends a request of the server, or a notification if id is "".
func AppendCall(dst []byte, id, method string, params any) ([]byte, error) {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if id != "" {
		dst = append(AppendString(append(dst, `"id":`...), id), ',')
	}
	dst = AppendString(append(dst, `"method":`...), method)
	dst, err := appendJSON(append(dst, `,"params":`...), params)
	return append(dst, '}'), err
}

func appendHead(dst []byte, id json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		return append(dst, "null"...)
	}
	return append(dst, id...)
}

// AppendCallResult appends the same as json.Marshal(r), but without HTML escapes.
func AppendCallResult(dst []byte, r *mcp.CallToolResult) (_ []byte, err error) {
	dst = append(dst, '{')
	if r.Meta != nil {
		if dst, err = appendJSON(append(dst, `"_meta":`...), r.Meta); err != nil {
			return nil, err
		}
		dst = append(dst, ',')
	}
	dst = append(dst, `"content":[`...)
	for i, c := range r.Content {
		if i > 0 {
			dst = append(dst, ',')
		}
		if t, ok := c.(mcp.TextContent); ok && t.Meta == nil && t.Annotations == nil {
			dst = append(AppendString(append(dst, `{"type":"text","text":`...), t.Text), '}')
		} else if dst, err = appendJSON(dst, c); err != nil {
			return nil, err
		}
	}
	dst = append(dst, ']')
	if len(r.InputRequests) > 0 {
		if dst, err = appendJSON(append(dst, `,"inputRequests":`...), r.InputRequests); err != nil {
			return nil, err
		}
	}
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	if r.RequestState != "" {
		dst = AppendString(append(dst, `,"requestState":`...), r.RequestState)
	}
	if r.ResultType != "" {
		dst = AppendString(append(dst, `,"resultType":`...), string(r.ResultType))
	}
	if r.RawStructuredContent != nil {
		dst = append(append(dst, `,"structuredContent":`...), r.RawStructuredContent...)
	} else if r.StructuredContent != nil {
		if dst, err = appendJSON(append(dst, `,"structuredContent":`...), r.StructuredContent); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// AppendToolList appends the same as json.Marshal(r), but without HTML escapes.
func AppendToolList(dst []byte, r mcp.ListToolsResult) (_ []byte, err error) {
	rest := r
	rest.Tools = nil
	if dst, err = appendJSON(dst, rest); err != nil {
		return nil, err
	}
	const end = `"tools":null}`
	if !bytes.HasSuffix(dst, []byte(end)) {
		return nil, fmt.Errorf("tools do not end the encoding of %T", r)
	}
	dst = append(dst[:len(dst)-len(end)], `"tools":[`...)
	for i, t := range r.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendTool(dst, t); err != nil {
			return nil, err
		}
	}
	return append(dst, "]}"...), nil
}

// appendTool appends a tool that define has made.
func appendTool(dst []byte, t mcp.Tool) (_ []byte, err error) {
	dst = append(dst, '{')
	if t.Meta != nil {
		if dst, err = appendJSON(append(dst, `"_meta":`...), t.Meta); err != nil {
			return nil, err
		}
		dst = append(dst, ',')
	}
	if dst, err = appendJSON(append(dst, `"annotations":`...), t.Annotations); err != nil {
		return nil, err
	}
	dst = AppendString(append(dst, `,"description":`...), t.Description)
	dst = append(append(dst, `,"inputSchema":`...), t.RawInputSchema...)
	dst = AppendString(append(dst, `,"name":`...), t.Name)
	if t.RawOutputSchema != nil {
		dst = append(append(dst, `,"outputSchema":`...), t.RawOutputSchema...)
	}
	dst = AppendString(append(dst, `,"title":`...), t.Title)
	return append(dst, '}'), nil
}

// appendJSON appends v as encoding/json writes it.
func appendJSON(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD; U+2028 and U+2029 are escaped for clients that read JSON as
// JavaScript, as encoding/json does.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(slices.Grow(dst, len(s)+len(s)/16+wordLen+2), '"')
	for s != "" {
		for len(s) >= wordLen {
			w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
				uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
			dst = binary.LittleEndian.AppendUint64(dst, w)
			if n := plainBytes(w); n < wordLen { // the rest is taken back
				dst, s = dst[:len(dst)-wordLen+n], s[n:]
				break
			}
			s = s[wordLen:]
		}
		if s == "" {
			break
		}
		c := s[0]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s)
			if (r == utf8.RuneError && size == 1) || r == '\u2028' || r == '\u2029' {
				dst = append(dst, '\\', 'u', hex[r>>12&0xf], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
			} else {
				dst = append(dst, s[:size]...)
			}
			s = s[size:]
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
		s = s[1:]
	}
	return append(dst, '"')
}

// wordLen is how many bytes are looked at together.
const wordLen = 8

// plainBytes returns how many bytes of a word come before the first that needs an escape or
// is beyond ASCII. The bit of a byte that is neither can be set in the
// mask by the borrow of one before it that is, so only the lowest counts.
func plainBytes(w uint64) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^('"'*ones), w^('\\'*ones)
	mask := (w | (w - ' '*ones) | (quote-ones)&^quote | (slash-ones)&^slash) & high
	return bits.TrailingZeros64(mask) / 8
}
