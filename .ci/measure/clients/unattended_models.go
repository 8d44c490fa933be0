package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// script answers as the APIs of models do: with its uses of tools, one after the other, and
// then with a text.
type script struct {
	prefix string // of the names of the server's tools

	mu     sync.Mutex
	uses   []use
	listed int // tools of the server that the model was offered last
}

// dialect is how an API speaks: the tools that a request offers, the results that it has of
// earlier uses, in their order, and an answer with a use of a tool, or with a text if the tool
// is "".
type dialect struct {
	tools   func(body []byte) []string
	results func(body []byte) []string
	answer  func(n int, tool, args string) string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var d dialect
	switch path := r.URL.Path; {
	case r.Method != http.MethodPost || strings.HasSuffix(path, "/count_tokens"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[],"models":[],"input_tokens":1}`)
		return
	case strings.HasSuffix(path, "/messages"):
		m := &model{uses: s.named()} // it also searches where tools are not listed
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		m.ServeHTTP(w, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range s.uses {
			if m.uses[i].result != "" {
				s.uses[i].result = m.uses[i].result
			}
		}
		return
	case strings.HasSuffix(path, "/responses"):
		d = responses(s.prefix)
	case strings.HasSuffix(path, "/chat/completions"):
		d = completions
	default:
		d = gemini
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	offered := d.tools(body)
	if len(offered) == 0 {
		fmt.Fprint(w, d.answer(0, "", "")) // it wants a title or the like
		return
	}
	s.listed = 0
	for _, name := range offered {
		if bare, ours := strings.CutPrefix(name, s.prefix); ours && (s.prefix != "" || strings.ToLower(bare) == bare) {
			s.listed++
		}
	}
	results := d.results(body)
	for i, result := range results[:min(len(results), len(s.uses))] {
		s.uses[i].result = result
	}
	if n := len(results); n < len(s.uses) {
		fmt.Fprint(w, d.answer(n, s.uses[n].name(s.prefix), s.uses[n].args))
		return
	}
	fmt.Fprint(w, d.answer(0, "", ""))
}

// named returns the uses with the names that the client gives the tools.
func (s *script) named() []use {
	s.mu.Lock()
	defer s.mu.Unlock()
	uses := slices.Clone(s.uses)
	for i := range uses {
		uses[i].tool = uses[i].name(s.prefix)
	}
	return uses
}

// read decodes a request; what it lacks stays empty.
func read[T any](body []byte) (req T) {
	_ = json.Unmarshal(body, &req)
	return req
}

// data writes events of which each is one line of JSON.
func data(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

var completions = dialect{
	tools: func(body []byte) (names []string) {
		for _, t := range read[struct {
			Tools []struct{ Function struct{ Name string } }
		}](body).Tools {
			names = append(names, t.Function.Name)
		}
		return names
	},
	results: func(body []byte) (texts []string) {
		for _, m := range read[struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}](body).Messages {
			if m.Role == "tool" {
				texts = append(texts, string(m.Content))
			}
		}
		return texts
	},
	answer: func(n int, tool, args string) string {
		delta, reason := `{"role":"assistant","content":"Done."}`, "stop"
		if tool != "" {
			delta, reason = fmt.Sprintf(`{"role":"assistant","tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]}`, n, tool, args), "tool_calls"
		}
		const head = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"stand-in",`
		return data(head+`"choices":[{"index":0,"delta":`+delta+`,"finish_reason":null}]}`,
			head+`"choices":[{"index":0,"delta":{},"finish_reason":"`+reason+`"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, "[DONE]")
	},
}

// responses is the API of Codex, which names a tool within the namespace of its server.
func responses(namespace string) dialect {
	return dialect{
		tools: func(body []byte) (names []string) {
			for _, t := range read[struct {
				Tools []struct {
					Name  string
					Tools []struct{ Name string }
				}
			}](body).Tools {
				if t.Name != namespace {
					names = append(names, "own "+t.Name)
				}
				for _, in := range t.Tools {
					if t.Name == namespace {
						names = append(names, namespace+in.Name)
					}
				}
			}
			return names
		},
		results: func(body []byte) (texts []string) {
			for _, item := range read[struct {
				Input []struct {
					Type   string
					Output json.RawMessage
				}
			}](body).Input {
				if item.Type == "function_call_output" {
					texts = append(texts, string(item.Output))
				}
			}
			return texts
		},
		answer: func(n int, tool, args string) string {
			item := `{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Done.","annotations":[]}]}`
			if tool != "" {
				of := ""
				name, ofServer := strings.CutPrefix(tool, namespace)
				if ofServer {
					of = fmt.Sprintf(`"namespace":%q,`, namespace)
				}
				item = fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":%q,%s"arguments":%q,"status":"completed"}`, n, n, name, of, args)
			}
			return data(`{"type":"response.created","response":{"id":"r"}}`, `{"type":"response.output_item.done","output_index":0,"item":`+item+`}`,
				`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":1,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":2}}}`)
		},
	}
}

var gemini = dialect{
	tools: func(body []byte) (names []string) {
		for _, t := range read[struct {
			Tools []struct {
				FunctionDeclarations []struct{ Name string }
			}
		}](body).Tools {
			for _, f := range t.FunctionDeclarations {
				names = append(names, f.Name)
			}
		}
		return names
	},
	results: func(body []byte) (texts []string) {
		for _, content := range read[struct {
			Contents []struct {
				Parts []struct{ FunctionResponse json.RawMessage }
			}
		}](body).Contents {
			for _, part := range content.Parts {
				if part.FunctionResponse != nil {
					texts = append(texts, string(part.FunctionResponse))
				}
			}
		}
		return texts
	},
	answer: func(_ int, tool, args string) string {
		part := `{"text":"Done."}`
		if tool != "" {
			part = fmt.Sprintf(`{"functionCall":{"name":%q,"args":%s}}`, tool, args)
		}
		return data(`{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[` + part + `]}}],` +
			`"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`)
	},
}
