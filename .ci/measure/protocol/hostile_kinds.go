package protocol

import (
	"regexp"
	"strings"
	"time"
)

// attack is a kind of hostile request, of which many are sent at once.
type attack struct {
	name   string
	want   []string // the outcomes that are right, as script.play words them
	token  bool     // only where the server wants a token
	waits  bool     // it takes the server's patience
	inTurn bool     // one after another in the place of all at once
	heavy  bool     // what it costs is shown and not judged: it is right, or big by itself
	fewer  int      // a part of the others' number: 1/fewer; 0 = as many
	within time.Duration
	script func(t target, i int) script // of the i-th connection
}

// oneOf makes the script of variants in turn.
func oneOf(variants ...func(t target) script) func(target, int) script {
	return func(t target, i int) script { return variants[i%len(variants)](t) }
}

// each makes right requests with one thing changed: the values in turn.
func each(values []string, change func(t target, value string) request) func(target, int) script {
	return func(t target, i int) script { return asIs(change(t, values[i%len(values)])) }
}

func withOrigin(t target, origin string) request {
	return t.right().with("Origin", strings.ReplaceAll(origin, "PORT", t.port()))
}

func (t target) port() string { return t.addr[strings.LastIndexByte(t.addr, ':')+1:] }

// attacks are all kinds. The first ones are right requests: a server that
// refuses everything must not pass.
func attacks() []attack {
	var all []attack
	for _, part := range [][]attack{rightOnes(), strangers(), secrets(), contents(), waiters(), protocols(), messages(), largest()} {
		all = append(all, part...)
	}
	return all
}

func rightOnes() []attack {
	return []attack{
		{name: "a right request", heavy: true, want: []string{"200"}, script: func(t target, _ int) script { return asIs(t.right()) }},
		{name: "a right request of its own origin", heavy: true, want: []string{"200"},
			script: each([]string{"http://127.0.0.1:PORT", "http://localhost:PORT"}, withOrigin)},
		{name: "a right request by another spelling", heavy: true, want: []string{"200"}, script: oneOf(
			func(t target) script { return asIs(t.right().with("Content-Type", "application/json; charset=utf-8")) },
			func(t target) script { return asIs(t.right().with("Content-Type", "Application/JSON")) },
			func(t target) script { return asIs(t.right().with("Host", "localhost:"+t.port())) },
			func(t target) script { return asIs(t.right().to("POST http://" + t.addr + "/mcp HTTP/1.1")) },
			func(t target) script { return asIs(t.right().with("Accept", "*/*")) },
		)},
	}
}

// strangers are other websites and other names of the server.
func strangers() []attack {
	return []attack{
		{name: "a foreign Origin", want: []string{"403"}, script: each([]string{
			"http://evil.example", "https://evil.example", "http://evil.example:PORT", "http://192.168.1.1",
			"file://", "chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh", "http://[2001:db8::1]:PORT",
		}, withOrigin)},
		{name: "Origin: null", want: []string{"403"}, script: each([]string{"null", "NULL"}, withOrigin)},
		{name: "a look-alike Origin", want: []string{"403"}, script: each([]string{
			"http://localhost.evil.example", "http://127.0.0.1.evil.example", "http://evil@localhost",
			"https://localhost:PORT.evil.example", "http://127.0.0.1:PORT.evil.example", "http://localhost:PORT@evil.example",
			"http://evil.example@127.0.0.1:PORT", "http://127.0.0.1:PORT@evil.example", "http://evil-localhost:PORT",
			"http://localhostevil.example:PORT", "http://xlocalhost:PORT", "http://localhost:PORT/evil", "http://localhost:PORT, http://evil.example",
			"http://evil.example, http://localhost:PORT", "http://evil.example#http://localhost:PORT", "http://evil.example?http://localhost:PORT",
			"http://evil.example\\@localhost:PORT", "http://localhost:PORT\\.evil.example", "http://127.0.0.1%2eevil.example:PORT",
			"http://128.0.0.1:PORT", "http://0.0.0.0:PORT", "//localhost:PORT", "localhost:PORT", "http:localhost:PORT",
			"javascript://localhost:PORT", "http://loc\u0430lhost:PORT", "http://localhost.:PORT.evil.example", "http://[::1].evil.example:PORT", "http://",
		}, withOrigin)},
		{name: "two Origins", want: []string{"400", "403"}, script: oneOf(
			func(t target) script {
				return asIs(withOrigin(t, "http://127.0.0.1:PORT").plus("Origin", "http://evil.example"))
			},
			func(t target) script {
				return asIs(withOrigin(t, "http://evil.example").plus("Origin", "http://127.0.0.1:"+t.port()))
			},
		)},
		{name: "a foreign Origin of another method or path", want: []string{"403"}, script: oneOf(
			func(t target) script { return asIs(t.bare("GET", "/mcp").with("Origin", "http://evil.example")) },
			func(t target) script { return asIs(t.bare("DELETE", "/mcp").with("Origin", "http://evil.example")) },
			func(t target) script {
				return asIs(t.bare("OPTIONS", "/mcp").with("Origin", "http://evil.example").with("Access-Control-Request-Method", "POST"))
			},
			func(t target) script { return asIs(t.bare("GET", "/").with("Origin", "http://evil.example")) },
			func(t target) script { return asIs(t.legacy("").with("Origin", "http://evil.example")) },
		)},
		{name: "a foreign Host", want: []string{"403"}, script: each([]string{
			"evil.example", "evil.example:PORT", "localhost.evil.example:PORT", "127.0.0.1.evil.example:PORT", "127.0.0.1:PORT.evil.example",
			"xlocalhost:PORT", "128.0.0.1:PORT", "[2001:db8::1]:PORT", "0x7f000001.evil.example",
		}, func(t target, host string) request {
			return t.right().with("Host", strings.ReplaceAll(host, "PORT", t.port()))
		})},
		{name: "a foreign Host in the target", want: []string{"403"}, script: oneOf(
			func(t target) script { return asIs(t.right().to("POST http://evil.example/mcp HTTP/1.1")) },
			func(t target) script {
				return asIs(t.right().to("POST http://evil.example:" + t.port() + "/mcp HTTP/1.1"))
			},
			func(t target) script {
				return asIs(t.right().to("POST http://evil.example/mcp HTTP/1.1").with("Host", "evil.example"))
			},
		)},
		{name: "no Host, two, or a bad one", want: []string{"400", "403"}, script: oneOf(
			func(t target) script { return asIs(t.right().without("Host")) },
			func(t target) script { return asIs(t.right().with("Host", "")) },
			func(t target) script { return asIs(t.right().plus("Host", "evil.example")) },
			func(t target) script { return asIs(t.right().with("Host", "evil.example@"+t.addr)) },
			func(t target) script { return asIs(t.right().with("Host", t.addr+"/evil")) },
			func(t target) script { return asIs(t.right().without("Host").to("POST /mcp HTTP/1.0")) },
			func(t target) script { return asIs(t.right().with("Host", "evil.example").to("POST /mcp HTTP/1.0")) },
		)},
	}
}

// secrets are tokens that are not the server's.
func secrets() []attack {
	challenge := regexp.MustCompile(`(?i)\r\nWWW-Authenticate: Bearer`)
	auth := func(value func(token string) string) func(t target) script {
		return func(t target) script {
			s := asIs(t.right().with("Authorization", value(t.token)))
			s.says = challenge
			return s
		}
	}
	return []attack{
		{name: "no token", want: []string{"401"}, token: true, script: oneOf(
			func(t target) script {
				return script{sends: t.right().without("Authorization").bytes(), says: challenge}
			},
			func(t target) script { return asIs(t.bare("GET", "/mcp").without("Authorization")) },
			func(t target) script { return asIs(t.bare("DELETE", "/mcp").without("Authorization")) },
			func(t target) script {
				return asIs(t.right().without("Authorization").plus("Cookie", "token="+t.token))
			},
			func(t target) script {
				return asIs(t.right().without("Authorization").plus("Proxy-Authorization", "Bearer "+t.token))
			},
		)},
		{name: "a wrong token", want: []string{"401"}, token: true, script: oneOf(
			auth(func(string) string { return "Bearer wrong" }),
			auth(func(token string) string { return "Bearer " + strings.Repeat("A", len(token)) }),
			auth(func(token string) string { return "Basic " + token }),
			auth(func(token string) string { return token }),
		)},
		{name: "an almost right token", want: []string{"401"}, token: true, script: oneOf(
			auth(func(token string) string { return "Bearer " + token[:len(token)-1] }),
			auth(func(token string) string { return "Bearer " + token + "A" }),
			auth(func(token string) string { return "Bearer " + token[:len(token)-1] + another(token[len(token)-1]) }),
			auth(func(token string) string { return "Bearer " + another(token[0]) + token[1:] }),
			auth(func(token string) string { return "Bearer " + swapCase(token) }),
			auth(func(token string) string { return "BearerX " + token }),
		)},
		{name: "a token that is carried wrongly", want: []string{"400"}, token: true, script: oneOf( // RFC 6750, 3.1
			func(t target) script {
				return asIs(t.right().without("Authorization").to("POST /mcp?access_token=" + t.token + " HTTP/1.1"))
			},
			auth(func(string) string { return "Bearer " }),
			auth(func(string) string { return "Bearer" }),
			auth(func(token string) string { return "Bearer " + token + ", Bearer " + token }),
			auth(func(token string) string { return "Bearer " + token + " " + token }),
			auth(func(token string) string { return "Bearer \"" + token + "\"" }),
		)},
		{name: "a wrong token before the right one", want: []string{"400"}, token: true, script: func(t target, _ int) script {
			return asIs(t.right().with("Authorization", "Bearer wrong").plus("Authorization", "Bearer "+t.token))
		}},
	}
}

// another returns a letter of tokens other than c.
func another(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

func swapCase(s string) string {
	if upper := strings.ToUpper(s); upper != s {
		return upper
	}
	return strings.ToLower(s)
}
