package vector_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/documents/internal/rank"
	"toolcrib/tools/documents/internal/vector"
	"toolcrib/tools/outbound"
)

// fake is an endpoint of embeddings that says of a text which letters it has.
type fake struct {
	mu       sync.Mutex
	batches  []int // texts of each request that was answered
	longest  int   // a text may have so many bytes; 0 = any
	most     int   // texts of a request; 0 = any
	requests int
	// answer replaces the answer; nil = it is right.
	answer func(w http.ResponseWriter, request int, texts []string) (done bool)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer secret" || in.Model != "letters" {
		http.Error(w, `{"error":{"message":"what?"}}`, http.StatusUnauthorized)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	if f.answer != nil && f.answer(w, f.requests, in.Input) {
		return
	}
	for _, text := range in.Input {
		if f.longest > 0 && len(text) > f.longest || f.most > 0 && len(in.Input) > f.most {
			http.Error(w, `{"error":{"message":"too much"}}`, http.StatusBadRequest)
			return
		}
	}
	f.batches = append(f.batches, len(in.Input))
	fmt.Fprint(w, embeddings(in.Input, 26))
}

// embeddings is a right answer, last text first.
func embeddings(texts []string, dimensions int) string {
	var data []string
	for i, text := range slices.Backward(texts) {
		v := make([]float32, dimensions)
		for _, c := range text {
			if c >= 'a' && c <= 'z' {
				v[int(c-'a')%dimensions]++
			}
		}
		v[0]++
		one, _ := json.Marshal(map[string]any{"index": i, "embedding": v, "object": "embedding"})
		data = append(data, string(one))
	}
	return `{"object":"list","data":[` + strings.Join(data, ",") + `]}`
}

func serve(t *testing.T, f *fake) *vector.Endpoint {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	client, err := outbound.To(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &vector.Endpoint{Client: client, URL: server.URL + "/v1", Model: "letters", Key: "secret"}
}

func texts(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.Repeat(string(rune('b'+i%25)), 1+i%7)
	}
	return all
}

// Each text gets its own vector, whatever the order and the batches of the answers.
func TestEndpoint(t *testing.T) {
	for _, test := range []struct {
		name    string
		fake    *fake
		most    int
		texts   []string
		batches string
	}{
		{"batches", &fake{}, 0, texts(150), "[64 64 22]"},
		{"small batches", &fake{}, 40, texts(100), "[40 40 20]"},
		{"large texts", &fake{}, 0, []string{strings.Repeat("b", 150_000), "c", strings.Repeat("d", 300_000)}, "[3]"},
		{"many large texts", &fake{}, 0, []string{strings.Repeat("b", 24_000), strings.Repeat("c", 24_000), strings.Repeat("d", 24_000), strings.Repeat("e", 24_000), strings.Repeat("f", 24_000), strings.Repeat("g", 24_000), strings.Repeat("h", 24_000), strings.Repeat("i", 24_000), strings.Repeat("j", 24_000)}, "[8 1]"},
		{"it takes fewer texts", &fake{most: 5}, 16, texts(16), "[4 4 4 4]"},
		{"it takes shorter texts", &fake{longest: 1000}, 0, []string{"b", strings.Repeat("c", 3000), "d"}, "[1 1 1]"},
		{"an empty text", &fake{}, 0, []string{"", "b"}, "[2]"},
		{"busy for a while", &fake{answer: func(w http.ResponseWriter, request int, _ []string) bool {
			if request > 2 {
				return false
			}
			w.Header().Set("Retry-After", "0")
			http.Error(w, "busy", []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}[request-1])
			return true
		}}, 0, texts(3), "[3]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := serve(t, test.fake)
			e.Most = test.most
			got, err := e.Vectors(t.Context(), test.texts)
			if err != nil || len(got) != len(test.texts) {
				t.Fatalf("%d vectors (%v)", len(got), err)
			}
			if batches := fmt.Sprint(test.fake.batches); batches != test.batches {
				t.Errorf("batches %s, want %s", batches, test.batches)
			}
			for i, text := range test.texts {
				if text == "" {
					continue
				}
				letters := make([]float32, 26)
				letters[text[0]-'a'] = 1
				if c := rank.Cosine(got[i], rank.Pack(letters)); c < 0.7 {
					t.Errorf("text %d, %.10s: %.2f", i, text, c)
				}
			}
		})
	}
}

// What came before a request failed is kept; the error says what is wrong, and no key.
func TestEndpointFails(t *testing.T) {
	whole := func(text string) func(http.ResponseWriter, int, []string) bool {
		return func(w http.ResponseWriter, request int, _ []string) bool {
			if request == 1 {
				return false
			}
			fmt.Fprint(w, text)
			return true
		}
	}
	status := func(code int, text string) func(http.ResponseWriter, int, []string) bool {
		return func(w http.ResponseWriter, request int, _ []string) bool {
			if request == 1 {
				return false
			}
			w.WriteHeader(code)
			fmt.Fprint(w, text)
			return true
		}
	}
	for _, test := range []struct {
		name   string
		answer func(http.ResponseWriter, int, []string) bool
		kept   int
		want   string
		code   tools.Code
	}{
		{"half an answer", whole(embeddings([]string{"b"}, 26)), 2, "vectors of 1 of 2 texts", tools.Unavailable},
		{"torn", whole(embeddings([]string{"b", "c"}, 26)[:60]), 2, "no JSON with embeddings", tools.Unavailable},
		{"twice the same", whole(strings.ReplaceAll(embeddings([]string{"b", "c"}, 26), `"index":1`, `"index":0`)), 2, "a vector of text 1, of 2 texts", tools.Unavailable},
		{"too many", whole(embeddings([]string{"b", "c", "d"}, 26)), 2, "a vector of text 3, of 2 texts", tools.Unavailable},
		{"nothing in it", whole(`{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[0,1]}]}`), 2, "without a direction", tools.Unavailable},
		{"null", whole(`{"data":[{"index":0,"embedding":null},{"index":1,"embedding":[0,1]}]}`), 2, "without a direction", tools.Unavailable},
		{"another length", whole(embeddings([]string{"b", "c"}, 13)), 0, "vectors of 26 and of 13 numbers", tools.Unavailable},
		{"refused", status(http.StatusForbidden, `{"error":{"message":"not you"}}`), 2, "HTTP 403 Forbidden: not you", tools.Denied},
		{"a text for an error", status(http.StatusInternalServerError, `{"error":"broken"}`), 2, "HTTP 500 Internal Server Error: broken", tools.Unavailable},
		{"unknown", status(http.StatusNotFound, `<html>`), 2, "HTTP 404 Not Found", tools.NotFound},
		{"always too much", status(http.StatusBadRequest, ``), 2, "HTTP 400 Bad Request", tools.Unavailable},
		{"elsewhere", func(w http.ResponseWriter, request int, _ []string) bool {
			if request == 1 {
				return false
			}
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}, 2, "HTTP 307 Temporary Redirect", tools.Unavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := serve(t, &fake{answer: test.answer})
			e.Most = 2
			got, err := e.Vectors(t.Context(), []string{"b", "c", "d", "e"})
			if err == nil || len(got) != test.kept || !strings.Contains(err.Error(), test.want) || tools.AsError(err).Code != test.code || strings.Contains(err.Error(), "secret") {
				t.Errorf("%d vectors (%v); want %d (%s)", len(got), err, test.kept, test.want)
			}
		})
	}
}
