package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"toolcrib/.ci/measure/rawhttp"
)

// grammar makes requests of both eras, and breaks some of them.
type grammar struct {
	rnd    *rand.Rand
	root   string // of the server
	sender int    // whose ids these are
	n      int    // of the request that is made
}

// part is a member of a JSON object, as texts.
type part struct{ key, value string }

// object is a JSON object that may be none: keys may stand twice, values be anything.
type object []part

func (o object) text() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, p := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(p.key + ":" + p.value)
	}
	return b.String() + "}"
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text can be encoded
	}
	return string(b)
}

func pick[T any](rnd *rand.Rand, list []T) T { return list[rnd.IntN(len(list))] }

// Kinds of what a grammar makes.
const (
	fuzzWhole = iota
	fuzzChanged
	fuzzDamaged
)

// made is a message of the grammar.
type made struct {
	kind   int
	modern bool
	method string // as it was before it was changed
	name   string // of the tool, the prompt or the resource, likewise
	line   []byte
}

// next makes the message n.
func (g *grammar) next(n int) made {
	g.n = n
	m := made{modern: g.rnd.IntN(2) == 0}
	message := g.message(&m)
	switch p := g.rnd.IntN(100); {
	case p < 45:
		m.line = []byte(message.text())
	case p < 88:
		m.kind = fuzzChanged
		for range 1 + g.rnd.IntN(3) {
			message = g.changed(message)
		}
		m.line = []byte(message.text())
	case p < 92: // an array of messages
		m.kind = fuzzChanged
		texts := make([]string, g.rnd.IntN(4))
		for i := range texts {
			texts[i] = g.message(new(made)).text()
		}
		m.line = []byte("[" + strings.Join(texts, ",") + "]")
	default:
		m.kind = fuzzDamaged
		m.line = g.damaged([]byte(message.text()))
	}
	return m
}

// id is an id that no other message has.
func (g *grammar) id() string {
	if g.rnd.IntN(3) == 0 {
		return quoted(fmt.Sprintf("id-%d-%d", g.sender, g.n) + pick(g.rnd, []string{"", " ", "\"\\/", "ä漢", "\n", "\x1b[0m", "\u202e", strings.Repeat("i", 300)}))
	}
	return strconv.Itoa(10_000_000*(g.sender+1) + g.n)
}

// message makes a right message: mostly requests.
func (g *grammar) message(m *made) object {
	if g.rnd.IntN(12) == 0 {
		return g.notification(m)
	}
	methods := fuzzMethods[0]
	if m.modern {
		methods = fuzzMethods[1]
	}
	m.method = pick(g.rnd, methods)
	params := g.params(m)
	if m.modern {
		params = append(params, part{`"_meta"`, g.meta()})
	}
	return object{{`"jsonrpc"`, `"2.0"`}, {`"id"`, g.id()}, {`"method"`, quoted(m.method)}, {`"params"`, params.text()}}
}

// fuzzMethods are the methods of the older revisions and of the stateless one. Those
// stand several times that are called more often.
var fuzzMethods = [2][]string{
	{
		"tools/call", "tools/call", "tools/call", "tools/call", "tools/call", "tools/call",
		"initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "resources/read", "resources/subscribe",
		"resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "tasks/get", "sampling/createMessage",
	},
	{
		"tools/call", "tools/call", "tools/call", "tools/call", "tools/call", "tools/call",
		"server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get",
		"completion/complete", "tasks/get", "tasks/update", "tasks/cancel", "subscriptions/listen", "ping", "roots/list",
	},
}

func (g *grammar) meta() string {
	meta := object{
		{`"io.modelcontextprotocol/protocolVersion"`, `"2026-07-28"`},
		{`"io.modelcontextprotocol/clientCapabilities"`, g.capabilities()},
		{`"io.modelcontextprotocol/clientInfo"`, g.clientInfo()},
	}
	if g.rnd.IntN(8) == 0 {
		meta = append(meta, part{`"progressToken"`, pick(g.rnd, []string{"1", `"t"`, "1.5", "{}", "null"})})
	}
	if g.rnd.IntN(8) == 0 {
		meta = append(meta, part{`"io.modelcontextprotocol/logLevel"`, pick(g.rnd, []string{`"debug"`, `"info"`, `"x"`, "7"})})
	}
	return meta.text()
}

func (g *grammar) capabilities() string {
	if g.rnd.IntN(5000) == 0 {
		return `{"roots":{"listChanged":true}}` // the server asks for them and waits in vain
	}
	return pick(g.rnd, []string{
		"{}", `{"elicitation":{}}`, `{"sampling":{}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`,
		`{"experimental":{"x":` + quoted(g.word()) + `}}`,
	})
}

func (g *grammar) clientInfo() string {
	return object{{`"name"`, quoted(g.word())}, {`"version"`, quoted(g.word())}}.text()
}

// notification makes a message that is not answered.
func (g *grammar) notification(m *made) object {
	gone := quoted("gone-" + strconv.Itoa(g.rnd.IntN(1000)))
	switch m.method = pick(g.rnd, []string{"cancelled", "initialized", "progress", "roots/list_changed", "response", "error"}); m.method {
	case "response":
		return object{{`"jsonrpc"`, `"2.0"`}, {`"id"`, gone}, {`"result"`, g.json(2)}}
	case "error":
		return object{{`"jsonrpc"`, `"2.0"`}, {`"id"`, gone}, {`"error"`, `{"code":-1,"message":` + quoted(g.word()) + `}`}}
	}
	params := object{{`"requestId"`, gone}, {`"progressToken"`, gone}, {`"progress"`, "1"}}
	return object{{`"jsonrpc"`, `"2.0"`}, {`"method"`, quoted("notifications/" + m.method)}, {`"params"`, params.text()}}
}

// fuzzWords are used as texts.
var fuzzWords = []string{
	"", " ", "a", "hello", "d", "d/1.txt", "d/e/f.go", "empty", "naïve.md", ".", "..", "../..", "/etc/passwd", "*.txt", "**/*.go", "line of",
	"\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u202eevil", "a\u200bb", "\u2066x\u2069", "\u009b1m", "\x00", "\r\n", "\t", "\"quotes\"", `\`, `\u001b`,
	"漢字", "😀", "e\u0301", "(", "[a-", "(?P<x", "a{1000}", "/(/", "{{", "%s%n", "$(id)", "null", "NaN", "1e999", "task_x", "job_x", "toolcrib://job/x",
	"file:///etc/passwd", "2025-11-25", "2026-07-28", "constructor", "__proto__",
}

// word is a text: one of the words, several, or one that nobody has sent before.
func (g *grammar) word() string {
	switch p := g.rnd.IntN(40); {
	case p == 0:
		return strings.Repeat(pick(g.rnd, fuzzWords), g.rnd.IntN(400))
	case p < 4:
		return pick(g.rnd, fuzzWords) + pick(g.rnd, fuzzWords)
	case p < 10:
		return "w" + strconv.FormatUint(g.rnd.Uint64(), 36)
	}
	return pick(g.rnd, fuzzWords)
}

// json is a JSON value of any shape.
func (g *grammar) json(depth int) string {
	switch p := g.rnd.IntN(10); {
	case p < 4:
		return quoted(g.word())
	case p < 6 || depth == 0:
		return pick(g.rnd, []string{"0", "-1", "1", "7", "1.5", "1e3", "-0", "9007199254740993", "99999999999999999999", "1e999", "true", "false", "null", `"\ud800"`})
	case p < 8:
		values := make([]string, g.rnd.IntN(4))
		for i := range values {
			values[i] = g.json(depth - 1)
		}
		return "[" + strings.Join(values, ",") + "]"
	}
	o := make(object, g.rnd.IntN(4))
	for i := range o {
		o[i] = part{quoted(g.word()), g.json(depth - 1)}
	}
	return o.text()
}

// changed changes one thing of an object: what it holds, or what one of its values does.
func (g *grammar) changed(o object) object {
	o = slices.Clone(o)
	if len(o) == 0 {
		return append(o, part{quoted(g.word()), g.json(2)})
	}
	i := g.rnd.IntN(len(o))
	switch g.rnd.IntN(9) {
	case 0:
		return slices.Delete(o, i, i+1)
	case 1:
		return append(o, o[i])
	case 2:
		return append(o, part{o[i].key, g.json(2)})
	case 3:
		o[i].key = quoted(g.word())
	case 4:
		o[i].key = pick(g.rnd, []string{strings.ToUpper(o[i].key), strings.Replace(o[i].key, `"`, `"\u005f`, 1), strings.Replace(o[i].key, "e", `\u0065`, 1)})
	case 5:
		o[i].value = g.json(3)
	case 6:
		g.rnd.Shuffle(len(o), func(a, b int) { o[a], o[b] = o[b], o[a] })
	case 7:
		if g.rnd.IntN(20) == 0 { // deep, or long
			depth := 1 + g.rnd.IntN(12_000)
			o[i].value = pick(g.rnd, []string{strings.Repeat("[", depth) + strings.Repeat("]", depth), quoted(strings.Repeat("x", 20*depth))})
		}
	default:
		if field := strings.TrimSpace(o[i].value); strings.HasPrefix(field, "{") {
			o[i].value = g.changed(members(field)).text()
		} else {
			o[i].value = g.json(2)
		}
	}
	return o
}

// members takes apart what text has put together.
func members(text string) object {
	var o object
	b := []byte(text)
	for i := 1; i < len(b) && b[i] == '"'; i++ {
		end := rawhttp.SkipValue(b, i)
		last := min(rawhttp.SkipValue(b, min(end+1, len(b))), len(b))
		if end >= len(b) {
			break
		}
		o = append(o, part{text[i:end], text[end+1 : last]})
		i = last
	}
	return o
}

// damaged changes bytes, so that the line may be no JSON and no text.
func (g *grammar) damaged(line []byte) []byte {
	for range 1 + g.rnd.IntN(3) {
		if len(line) == 0 {
			break
		}
		i := g.rnd.IntN(len(line))
		j := i + g.rnd.IntN(min(20, len(line)-i))
		switch g.rnd.IntN(6) {
		case 0:
			line[i] = byte(g.rnd.IntN(256))
		case 1:
			line = slices.Delete(line, i, j)
		case 2:
			line = slices.Insert(line, i, bytes.Clone(line[i:j])...)
		case 3:
			line = slices.Insert(line, i, []byte(pick(g.rnd, []string{"\xff", "\xed\xa0\x80", "\x1b", "\u202e", "\ufeff", "{", "}", "\"", "\\", ":", ",", "\\ud800", "\x00"}))...)
		case 4:
			line = line[:i]
		default:
			line = fmt.Appendf(line, "%s", line[i:])
		}
	}
	return bytes.ReplaceAll(line, []byte{'\n'}, []byte{' '})
}
