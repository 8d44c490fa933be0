package security

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

// tokenEras are the revisions in which the matrix of tokens is sent.
var tokenEras = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// tokenCase is a request of the matrix.
type tokenCase struct {
	name      string
	values    []string // of the header Authorization
	header    map[string]string
	method    string // "" = POST
	path      string // "" = the endpoint
	query     string
	tool      string // "" = list_directory
	status    int
	challenge []string // what WWW-Authenticate holds
}

// Tokens sends requests with tokens that are wrong in every way, and some that are
// right, to a server that takes those of one issuer.
func Tokens(ctx context.Context, env harness.Environment) (err error) {
	is, err := newTokenIssuer()
	if err != nil {
		return err
	}
	defer is.close()
	dir, remove, err := harness.Temporary("tokens")
	if err != nil {
		return err
	}
	defer remove()
	const resource = "https://tools.example/mcp"
	server, err := harness.Listen(ctx, true, env.Binary, "serve", "--http", "127.0.0.1:0", "--auth", "jwt",
		"--issuer", is.url, "--public-url", resource, "--principal-root", dir+"/${sub}", dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	fmt.Println("| tokens | requests | refused as they must | admitted as they must | otherwise |\n|---|---|---|---|---|")
	var wrong []error
	for _, revision := range tokenEras {
		site := &tokenSite{url: server.URL, revision: revision}
		if err := site.open(ctx, is.token(resource, nil)); err != nil {
			return err
		}
		refused, admitted, bad := 0, 0, 0
		cases := is.cases(resource)
		for _, c := range cases {
			if err := site.send(ctx, c); err != nil {
				bad++
				wrong = append(wrong, fmt.Errorf("%s, %s: %w", revision, c.name, err))
			} else if c.status < 300 {
				admitted++
			} else {
				refused++
			}
		}
		fmt.Printf("| %s | %d | %d | %d | %d |\n", revision, len(cases), refused, admitted, bad)
	}
	return errors.Join(wrong...)
}

// tokenSite is a server in one revision.
type tokenSite struct {
	url, revision, session string
}

func (s *tokenSite) modern() bool { return s.revision >= "2026" }

// open opens a session where the revision has them.
func (s *tokenSite) open(ctx context.Context, token string) error {
	if s.modern() {
		return nil
	}
	res, err := s.do(ctx, tokenCase{values: []string{"Bearer " + token}}, strings.Replace(rawhttp.InitializeCall, "2025-11-25", s.revision, 1))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if s.session = res.Header.Get("Mcp-Session-Id"); s.session == "" {
		return fmt.Errorf("%s: no session: %s", s.revision, res.Status)
	}
	return nil
}

// do makes the request of a case. The caller closes the body of the answer.
func (s *tokenSite) do(ctx context.Context, c tokenCase, body string) (*http.Response, error) {
	method := c.method
	if method == "" {
		method = http.MethodPost
	} else {
		body = ""
	}
	url := s.url
	if c.path != "" {
		url = strings.TrimSuffix(url, "/mcp") + c.path
	}
	req, err := http.NewRequestWithContext(ctx, method, url+c.query, bytes.NewBufferString(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if s.session != "" {
		req.Header.Set("Mcp-Session-Id", s.session)
		req.Header.Set("MCP-Protocol-Version", s.revision)
	}
	if s.modern() {
		req.Header.Set("MCP-Protocol-Version", s.revision)
		req.Header.Set("Mcp-Method", "tools/call")
		req.Header.Set("Mcp-Name", c.toolName())
	}
	for name, value := range c.header {
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	for _, v := range c.values {
		req.Header.Add("Authorization", v)
	}
	return http.DefaultClient.Do(req)
}

func (c tokenCase) toolName() string {
	if c.tool == "" {
		return "list_directory"
	}
	return c.tool
}

// send sends a request of the matrix and compares the answer with what is wanted.
func (s *tokenSite) send(ctx context.Context, c tokenCase) error {
	meta := ""
	if s.modern() {
		meta = `,"_meta":{` + rawhttp.ModernMeta + `}`
	}
	res, err := s.do(ctx, c, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"path":"a","content":"b"}%s}}`, c.toolName(), meta))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 2000))
	if err != nil {
		return err
	}
	challenge := res.Header.Get("WWW-Authenticate")
	if res.StatusCode != c.status {
		return fmt.Errorf("%s, want %d: %s", res.Status, c.status, body)
	}
	for _, want := range c.challenge {
		if !strings.Contains(challenge, want) {
			return fmt.Errorf("no %s in the challenge %q", want, challenge)
		}
	}
	return nil
}
