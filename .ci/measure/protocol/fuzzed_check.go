package protocol

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// wanted is the right answer to a message.
type wanted struct {
	ids    []string          // of the requests that must be answered
	lasts  []json.RawMessage // ids of streams, which last until they are cancelled
	silent bool              // nothing may answer it
}

// wantedOf says of a message which requests in it must be answered: those whose id is a
// string or an integer and occurs once, whatever else is wrong with them. Of a line that
// is no JSON or no UTF-8 no id is sure.
func wantedOf(line []byte) (w wanted) {
	if !utf8.Valid(line) || !json.Valid(line) {
		return wanted{silent: len(bytes.TrimSpace(line)) == 0}
	}
	switch line = bytes.TrimSpace(line); line[0] {
	case '[':
		var all []json.RawMessage
		_ = json.Unmarshal(line, &all) // it is valid
		for _, one := range all {
			if one[0] == '{' {
				inner := wantedOf(one)
				w.ids, w.lasts = append(w.ids, inner.ids...), append(w.lasts, inner.lasts...)
			}
		}
		return w
	case '{':
		return wantedOfObject(line)
	}
	return w
}

func wantedOfObject(line []byte) (w wanted) {
	count, values := map[string]int{}, map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(line))
	_, _ = dec.Token() // the brace
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			return wanted{} // not reached: it is valid
		}
		count[key.(string)]++
		values[key.(string)] = value
	}
	if count["method"] == 0 && count["result"]+count["error"] > 0 {
		return wanted{silent: true}
	}
	if count["id"] == 0 {
		return wanted{silent: count["method"] > 0}
	}
	id, ok := idText(values["id"])
	if !ok || count["id"] > 1 {
		return wanted{}
	}
	var method string
	if json.Unmarshal(values["method"], &method) == nil && method == "subscriptions/listen" {
		return wanted{lasts: []json.RawMessage{values["id"]}}
	}
	return wanted{ids: []string{id}}
}

// idText is an id however it is spelled; false if it is none.
func idText(raw json.RawMessage) (string, bool) {
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		err := json.Unmarshal(raw, &text)
		return `"` + text, err == nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return strconv.FormatInt(n, 10), err == nil
}

// take judges a line of the server and returns the ids that it answers; "" is null. sent
// returns what was sent with an id.
func (t *fuzzTally) take(sent func(id string) []byte, answer []byte) (ids []string) {
	answer = bytes.TrimSpace(answer)
	if len(answer) == 0 {
		return nil
	}
	var all []json.RawMessage
	if answer[0] != '[' {
		all = []json.RawMessage{answer}
	} else if err := json.Unmarshal(answer, &all); err != nil {
		t.fault("an array that is no JSON", answer)
		return nil
	}
	for _, one := range all {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(one, &m); err != nil {
			t.fault("an answer that is no JSON", one)
			continue
		}
		id, ok := idText(m.ID)
		if deceptive(m.Error) || deceptiveBut(m.Params, "_meta", "progressToken", "requestId") || deceptiveBut(m.Result, "structuredContent", "_meta/io.modelcontextprotocol/subscriptionId") {
			t.fault("a character that deceives", sent(id), one)
		}
		if bytes.Contains(m.Error, []byte("internal error")) || bytes.Contains(m.Result, []byte("crashed, error")) {
			t.fault("a crash", sent(id), one)
		}
		if m.Method != "" {
			continue
		}
		t.mu.Lock()
		switch {
		case !ok:
			id = ""
			t.nobody++
		case m.Error != nil:
			t.errors++
		default:
			t.results++
		}
		t.mu.Unlock()
		ids = append(ids, id)
	}
	return ids
}

// deceptiveBut is deceptive of an object but for members that say an id or are data for
// programs: these are exact, and data need only be escaped. "a/b" is the member b of a.
func deceptiveBut(raw json.RawMessage, exact ...string) bool {
	var fields map[string]json.RawMessage
	if !deceptive(raw) || json.Unmarshal(raw, &fields) != nil {
		return deceptive(raw)
	}
	for key, value := range fields {
		var inner []string
		for _, e := range exact {
			if rest, ok := strings.CutPrefix(e, key+"/"); ok {
				inner = append(inner, rest)
			}
		}
		switch {
		case !slices.Contains(exact, key):
			if deceptiveBut(value, inner...) {
				return true
			}
		case key == "structuredContent":
			if strings.ContainsFunc(string(value), deceives) {
				return true
			}
		}
	}
	return false
}

// deceptive reports whether JSON holds, in any of its texts, a control sequence or a
// direction mark. Ids of the sender, which come back as they were, are no part of it.
func deceptive(raw json.RawMessage) bool {
	text := string(raw)
	if strings.ContainsFunc(text, deceives) {
		return true
	}
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++ // the escaped character, of which there is more after a u
		if text[i] == 'u' && i+5 <= len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+5], 16, 16); err == nil && deceives(rune(c)) {
				return true
			}
		}
	}
	return false
}

func deceives(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t' && r != '\n'
	case r >= 0x7f && r < 0xa0, r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}
