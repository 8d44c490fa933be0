package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
)

// Reason is why a model gave no turn.
type Reason string

// The reasons.
const (
	Busy        Reason = "busy"           // too many requests, or an overloaded service
	Key         Reason = "key refused"    // the key is missing, wrong or not allowed
	Quota       Reason = "quota"          // nothing is left to spend
	TooLong     Reason = "too long"       // the conversation does not fit the window
	Missing     Reason = "not found"      // no such model, or no such service at the address
	Rejected    Reason = "rejected"       // the service takes the request for wrong
	Broken      Reason = "broken off"     // the answer ended before its end
	Format      Reason = "not an answer"  // something else than a model answered
	Silent      Reason = "silent"         // nothing came for too long
	Unreachable Reason = "not reached"    // no connection
	Forbidden   Reason = "address denied" // the address may not be reached
	Unsampled   Reason = "not sampled"    // the client, or its user, did not let its model answer
)

// Error is why an endpoint gave no turn.
type Error struct {
	Endpoint string // Endpoint.String
	Reason   Reason
	Status   int           // of HTTP, 0 = none
	Say      string        // in words, with what the service said
	Wait     time.Duration // that the service asks for; 0 = it did not
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %s", e.Endpoint, e.Reason, e.Say) }

// again reports whether the same request may succeed a little later.
func (e *Error) again() bool {
	switch e.Reason {
	case Busy, Broken, Silent, Unreachable:
		return true
	case Format: // a page of a gateway, with a status of its own
		return e.Status >= 500
	}
	return false
}

// other reports whether another endpoint may succeed.
func (e *Error) other() bool { return e.Reason != Rejected }

// refusal returns why a service refused a request.
func refusal(status int, header http.Header, body []byte, now time.Time) *Error {
	code, say := said(body)
	e := &Error{Status: status, Reason: Rejected, Say: cmp.Or(say, short(body), http.StatusText(status))}
	e.Say = fmt.Sprintf("HTTP %d: %s", status, e.Say)
	e.Wait = wait(header, now)
	switch {
	case special(code, say) != "":
		e.Reason = special(code, say)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Reason = Key
	case status == http.StatusPaymentRequired:
		e.Reason = Quota
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		e.Reason = Missing
	case status == http.StatusRequestEntityTooLarge:
		e.Reason = TooLong
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests, status >= 500:
		e.Reason = Busy
	case status < 400:
		e.Reason = Format
	}
	return e
}

// streamError returns the error that a service sends in an answer that began well.
func streamError(data []byte) *Error {
	code, say := said(data)
	reason := cmp.Or(special(code, say), Busy)
	if strings.Contains(code, "invalid") || strings.Contains(code, "bad_request") {
		reason = Rejected
	}
	return &Error{Reason: reason, Say: cmp.Or(say, code, short(data))}
}

// special returns what the code and the text of an error mean where the status says less; ""
// = nothing special.
func special(code, say string) Reason {
	text := strings.ToLower(say)
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(code, part) || strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("context_length_exceeded", "maximum context length", "prompt is too long", "context window", "exceeds the context", "too many input tokens", "string_above_max_length"):
		return TooLong
	case has("insufficient_quota", "credit balance", "insufficient balance", "billing"):
		return Quota
	case has("overloaded_error", "rate_limit", "overloaded"):
		return Busy
	case has("authentication_error", "invalid_api_key", "permission_error"):
		return Key
	case has("model_not_found", "not_found_error"):
		return Missing
	}
	return ""
}

// said returns the code and the text of an error as services write them:
// {"error":{"message","type","code"}}, {"error":"text"}, {"message"}, {"detail"}, or a list of
// one of these.
func said(body []byte) (code, say string) {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var object struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &object) != nil {
		return "", ""
	}
	var inner struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    any    `json:"code"`
		Status  string `json:"status"`
	}
	var text string
	if json.Unmarshal(object.Error, &text) != nil {
		_ = json.Unmarshal(object.Error, &inner)
	}
	if inner.Code != nil {
		code = fmt.Sprint(inner.Code)
	}
	code = strings.ToLower(strings.Join([]string{code, inner.Type, inner.Status}, " "))
	detail := strings.Trim(string(object.Detail), `"`)
	return strings.TrimSpace(code), cut(cmp.Or(inner.Message, text, object.Message, detail), 400)
}

// wait returns how long a service asks to wait; 0 = it does not say.
func wait(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if seconds, err := strconv.ParseFloat(header.Get("Retry-After"), 64); err == nil && seconds > 0 {
		return time.Duration(seconds * float64(time.Second))
	}
	return max(outbound.RetryAfter(header, now), 0)
}

// unreached returns why a request had no answer.
func unreached(err error) *Error {
	e := &Error{Reason: Unreachable, Say: err.Error()}
	if refused, ok := errors.AsType[*tools.Error](err); ok {
		e.Say = refused.Msg
		if refused.Code == tools.Denied {
			e.Reason = Forbidden
		}
	}
	return e
}

// short returns the beginning of a body for an error, on one line.
func short(body []byte) string {
	return cut(strings.Join(strings.Fields(string(body[:min(len(body), 2000)])), " "), 200)
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
