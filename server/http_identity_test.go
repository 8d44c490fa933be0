package server_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"toolcrib/server"
	"toolcrib/server/identity"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// tokenOf is the token of a principal of a test.
func tokenOf(name string) string { return strings.Repeat(name, identity.MinToken) }

func as(name string) headers { return headers{"Authorization": "Bearer " + tokenOf(name)} }

// three are principals who may do everything, read, and nothing.
func three(t *testing.T) *identity.Gate {
	t.Helper()
	g, err := identity.StaticGate([]identity.Token{
		{Name: "a", Token: tokenOf("a")},
		{Name: "b", Token: tokenOf("b"), Scopes: []string{"tools:read"}},
		{Name: "c", Token: tokenOf("c"), Scopes: []string{"none"}},
	}, identity.Scopes{"none": {Toolsets: []string{"none"}}, "tools:read": {Access: []string{"read"}}, "tools:all": {}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestHTTPGrants calls beyond what a token lets be called, in both eras.
func TestHTTPGrants(t *testing.T) {
	w := serveHTTP(t, newServer(t), server.HTTP{Auth: three(t)})
	for _, e := range eras() {
		for _, c := range []struct {
			who, tool string
			status    int
			scope     string
		}{
			{"a", "greet", 200, ""}, {"b", "greet", 403, `scope="tools:all"`}, {"b", "secret", 200, ""},
			{"c", "secret", 403, `scope="tools:read"`}, {"c", "greet", 403, `scope="tools:all"`},
		} {
			h := as(c.who)
			if e.meta == "" {
				h = merge(w.helloAs(c.who), h)
			}
			res, messages := w.post(e.call("7", c.tool, "", ""), h)
			challenge := res.Header.Get("WWW-Authenticate")
			if res.StatusCode != c.status || !strings.Contains(challenge, c.scope) {
				t.Errorf("%s, %s calls %s: %d %s %q", e.name, c.who, c.tool, res.StatusCode, challenge, messages)
			}
			if c.status == 403 && (!strings.Contains(challenge, `error="insufficient_scope"`) || !strings.Contains(messages[0], `"id":7`)) {
				t.Errorf("%s, %s calls %s: %s %q", e.name, c.who, c.tool, challenge, messages)
			}
		}
		for who, want := range map[string]int{"a": 7, "b": 3, "c": 0} {
			h := as(who)
			if e.meta == "" {
				h = merge(w.helloAs(who), h)
			}
			_, messages := w.post(e.request("8", "tools/list", "", ""), h)
			if got := strings.Count(strings.Join(messages, ""), `"inputSchema"`); got != want {
				t.Errorf("%s: %s is shown %d tools, want %d", e.name, who, got, want)
			}
		}
	}
}

// A token counts for its request: that of another principal has no part in a session.
func TestHTTPSessionOfAnother(t *testing.T) {
	w := serveHTTP(t, newServer(t), server.HTTP{Auth: three(t)})
	session := w.helloAs("a")
	ping := eras()[0].request("1", "ping", "", "")
	if res, _ := w.post(ping, merge(session, as("a"))); res.StatusCode != http.StatusOK {
		t.Errorf("its own session: %d", res.StatusCode)
	}
	if res, _ := w.post(ping, merge(session, as("b"))); res.StatusCode != http.StatusNotFound {
		t.Errorf("the session of another: %d", res.StatusCode)
	}
	if res, _ := w.post(ping, merge(session, headers{"Authorization": ""})); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a session without a token: %d", res.StatusCode)
	}
}

// helloAs opens a session in the name of a principal.
func (w *site) helloAs(who string) headers {
	w.tb.Helper()
	res, _ := w.post(initialize, as(who))
	return headers{"Mcp-Session-Id": res.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-11-25"}
}

// TestHTTPRoots gives each principal the files of its own directory.
func TestHTTPRoots(t *testing.T) {
	base := t.TempDir()
	where := tools.New(tools.Def[nothingIn, textOut]{
		Name: "where", Title: "Where", Doc: "Says in which directory it works.",
		Access: tools.Read, Effects: tools.None,
		Run: func(ctx context.Context, _ nothingIn) (textOut, error) {
			return textOut{filepath.Base(tools.Session(ctx).Workspace.Roots()[0])}, nil
		},
	})
	roots, err := identity.NewRoots(filepath.Join(base, "${sub}"), func(_ context.Context, dir string) (*workspace.Workspace, error) {
		return workspace.Open([]string{dir}, workspace.Options{})
	})
	if err != nil {
		t.Fatal(err)
	}
	w := serveHTTP(t, newServer(t, with(where)), server.HTTP{Auth: three(t), Roots: roots})
	for _, e := range eras() {
		for _, who := range []string{"a", "b"} {
			h := as(who)
			if e.meta == "" {
				h = merge(w.helloAs(who), h)
			}
			if _, messages := w.post(e.call("1", "where", "", ""), h); !strings.Contains(strings.Join(messages, ""), `"text":"`+who+`"`) {
				t.Errorf("%s: %s works in %q", e.name, who, messages)
			}
		}
	}
}

// TestHTTPLimits calls more often than a principal may.
func TestHTTPLimits(t *testing.T) {
	limits, err := identity.NewLimiter(identity.Limits{Rate: "6/m", Burst: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	listed, hidden := toys()
	s, err := server.New(server.Options{
		Name: "toys", Tools: listed, Hidden: hidden,
		Runner: run.New(run.Config{Settings: run.Settings{Tools: append(listed, hidden...)}, Limits: limits}),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := serveHTTP(t, s, server.HTTP{Auth: three(t)})
	for i, e := range eras() {
		who := []string{"a", "b"}[i]
		h := as(who)
		if e.meta == "" {
			h = merge(w.helloAs(who), h)
		}
		call := e.call("1", "echo", `"text":"hi"`, "")
		if res, messages := w.post(call, h); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %q", e.name, res.StatusCode, messages)
		}
		res, messages := w.post(call, h)
		if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); res.StatusCode != http.StatusTooManyRequests || err != nil || seconds < 9 || seconds > 10 ||
			!strings.Contains(messages[0], `"error"`) || !strings.Contains(messages[0], `"retryAfterMs"`) {
			t.Errorf("%s, over the limit: %d %v %q", e.name, res.StatusCode, res.Header, messages)
		}
	}
}

// A stream ends when the token that opened it does.
func TestHTTPStreamExpires(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	issuer := httptest.NewServer(keys(public))
	defer issuer.Close()
	synctest.Test(t, func(t *testing.T) {
		g, err := identity.JWTGate(identity.JWT{Issuer: "https://login.example", Resource: endpoint, KeysURL: issuer.URL}, nil)
		if err != nil {
			t.Fatal(err)
		}
		token, err := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{
			"iss": "https://login.example", "aud": endpoint, "sub": "ada", "scope": "tools:all", "exp": time.Now().Add(time.Minute).Unix(),
		}).SignedString(private)
		if err != nil {
			t.Fatal(err)
		}
		w := serveHTTP(t, newServer(t), server.HTTP{Auth: g})
		mine := headers{"Authorization": "Bearer " + token}
		opened, _ := w.post(initialize, mine)
		mine["Mcp-Session-Id"] = opened.Header.Get("Mcp-Session-Id")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		req := w.request(ctx, http.MethodGet, "", mine)
		res, err := w.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		begin := time.Now()
		for range events(res.Body) {
		}
		if res.StatusCode != http.StatusOK {
			t.Fatalf("the stream: %s", res.Status)
		}
		if took := time.Since(begin); took < time.Minute || took > 2*time.Minute {
			t.Errorf("the stream ended after %s", took)
		}
	})
}

// keys answers every request with a key set. Its connections end with their request: one that
// is kept would hold up the time of a bubble.
type keys ed25519.PublicKey

func (k keys) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Connection", "close")
	fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"%s"}]}`, base64.RawURLEncoding.EncodeToString(k))
}
