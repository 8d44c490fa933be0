package hooks_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toolcrib/server/hooks"
)

// TestFailsClosed has every way in which a hook gives no clear decision: each denies the call
// and tells the model which hook it was. The denial quotes an answer that is unclear; the
// details of a hook that does not work are in the log alone.
func TestFailsClosed(t *testing.T) {
	command := func(body string) func(*testing.T) hooks.Spec {
		return func(t *testing.T) hooks.Spec { return hooks.Spec{Command: []string{script(t, body)}} }
	}
	answers := func(answer string) func(*testing.T) hooks.Spec {
		return func(t *testing.T) hooks.Spec { return hooks.Spec{Command: says(t, answer)} }
	}
	serves := func(h http.HandlerFunc) func(*testing.T) hooks.Spec {
		return func(t *testing.T) hooks.Spec {
			s := httptest.NewServer(h)
			t.Cleanup(s.Close)
			return hooks.Spec{URL: s.URL}
		}
	}
	for _, tc := range []struct {
		name string
		spec func(*testing.T) hooks.Spec
		log  string // what the log says
	}{
		{"exit code", command(`echo '{"decision":"allow"}'; echo odd >&2; exit 3`), "it ended with exit code 3, and only 0 and 2 are answers; it said: odd"},
		{"killed", command(`kill -9 $$`), "it was killed"},
		{"timeout", command(`exec sleep 60`), "no answer within 300ms"},
		{"timeout of a child", command(`sleep 60 & wait`), "no answer within 300ms"},
		{"ends while it says it", answers(`{"decision":"allow"`), "no JSON"},
		{"no JSON", answers(`allow`), "no JSON object"},
		{"a list", answers(`[{"decision":"allow"}]`), "no JSON object"},
		{"null", answers(`null`), "no JSON object"},
		{"two answers", answers(`{"decision":"allow"} {"decision":"allow"}`), "something behind"},
		{"trailing text", answers(`{"decision":"allow"} yes`), "something behind"},
		{"a reason alone", answers(`{"reason":"not on Sundays"}`), "no decision"},
		{"decision is null", answers(`{"decision":null}`), "decision of the answer: it is null"},
		{"decision is empty", answers(`{"decision":""}`), "decision of the answer"},
		{"decision is no string", answers(`{"decision":true}`), "decision of the answer"},
		{"unknown decision", answers(`{"decision":"alow"}`), `did you mean \"allow\"`},
		{"decision in another case", answers(`{"decision":"Allow"}`), `did you mean \"allow\"`},
		{"unknown field", answers(`{"decision":"allow","reasn":"x"}`), `did you mean \"reason\"`},
		{"field in another case", answers(`{"Decision":"allow"}`), `did you mean \"decision\"`},
		{"field twice", answers(`{"decision":"deny","decision":"allow"}`), `has \"decision\" twice`},
		{"arguments that are not valid", answers(`{"decision":"allow","arguments":{"n":99}}`), "arguments of a pre hook"},
		{"arguments that are no object", answers(`{"decision":"allow","arguments":[1]}`), "arguments of a pre hook"},
		{"arguments with a denial", answers(`{"decision":"deny","arguments":{}}`), "goes with no arguments"},
		{"result with allow", answers(`{"decision":"allow","result":{"text":"x"}}`), "goes with no result"},
		{"skip without a result", answers(`{"decision":"skip"}`), "skip wants"},
		{"skip with an empty result", answers(`{"decision":"skip","result":{}}`), "skip wants"},
		{"a result that is neither", answers(`{"decision":"skip","result":7}`), "result of the answer"},
		{"a reason that is no text", answers(`{"decision":"deny","reason":5}`), "reason of the answer: it is 5, and must be a text"},
		{"misspelt in the other form", answers(`{"hookSpecificOutput":{"permissionDecision":"denny"}}`), `did you mean \"deny\"`},
		{"misspelt key in the other form", answers(`{"hookSpecificOutput":{"permisionDecision":"deny"}}`), `did you mean \"permissionDecision\"`},
		{"skip in the other form", answers(`{"hookSpecificOutput":{"permissionDecision":"skip"}}`), "permissionDecision"},
		{"continue is no boolean", answers(`{"continue":"false"}`), `continue of the answer: it is \"false\", and must be true or false`},
		{"exit code 1", command(`echo '{"decision":"allow"}'; exit 1`), "it ended with exit code 1"},
		{"too much output", command(`head -c 200000 /dev/zero`), "more than 65536 bytes"},
		{"endless output", command(`exec yes`), "more than 65536 bytes"},
		{"status 500", serves(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"decision":"allow"}`, 500) }), "answered 500"},
		{"status 201", serves(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(201)
			_, _ = w.Write([]byte(`{"decision":"allow"}`))
		}), "answered 201"},
		{"redirect", serves(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/allow" {
				_, _ = w.Write([]byte(`{"decision":"allow"}`))
				return
			}
			http.Redirect(w, r, "/allow", http.StatusTemporaryRedirect)
		}), "answered 307"},
		{"large body", serves(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"decision":"allow"}` + strings.Repeat(" ", 70_000)))
		}), "more than 66 kB"},
		{"body that is no JSON", serves(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }), "no JSON object"},
		{"slow address", serves(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then a server sees that its client has gone
			<-r.Context().Done()
		}), "no answer within 300ms"},
		{"connection closed", serves(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), "EOF"},
		{"nobody listens", func(*testing.T) hooks.Spec { return hooks.Spec{URL: "http://127.0.0.1:1/"} }, "refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec := tc.spec(t)
			spec.Name, spec.Event, spec.Timeout = "guard", "pre", "10s"
			if strings.Contains(tc.log, "300ms") {
				spec.Timeout = "300ms"
			}
			f := start(t, spec)
			begin := time.Now()
			got := ending(f.call(t, "look", `{}`))
			if !strings.HasPrefix(got, "denied: look: ") || !strings.Contains(got, "hook") {
				t.Errorf("ended in %q", got)
			}
			if !strings.Contains(f.log.String(), tc.log) {
				t.Errorf("the log does not say %q: %s", tc.log, f.log)
			}
			unclear := strings.Contains(got, "is unclear")
			if told := strings.Contains(got, strings.ReplaceAll(tc.log, `\"`, `"`)); told != unclear {
				t.Errorf("unclear: %t, but the model is told: %q", unclear, got)
			}
			if took := time.Since(begin); took > 9*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}
