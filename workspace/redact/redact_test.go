package redact_test

import (
	"strings"
	"testing"

	"toolcrib/workspace/redact"
)

// TestLooks has what looks like a secret, cut in two so that no scanner of this
// repository takes it for one, and what is shown of it.
func TestLooks(t *testing.T) {
	const (
		a36 = "abcdefghijklmnopqrstuvwxyz0123456789"
		h32 = "0123456789abcdef0123456789abcdef"
	)
	jwt := "eyJ" + "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	for _, tc := range []struct{ text, want string }{
		{"id AKIA" + "IOSFODNN7EXAMPLE.", "id [redacted:aws-key]."},
		{"x ghp_" + a36 + " y", "x [redacted:github-token] y"},
		{"github_pat_" + a36, "[redacted:github-token]"},
		{"glpat-" + a36[:20], "[redacted:gitlab-token]"},
		{"xoxb-" + "1234567890-abc", "[redacted:slack-token]"},
		{"https://hooks.slack.com/services/" + "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "https://[redacted:slack-webhook]"},
		{"AIza" + a36[:35], "[redacted:google-key]"},
		{"sk_live_" + a36, "[redacted:stripe-key]"},
		{"sk-" + "proj-" + a36 + "_" + a36, "[redacted:api-key]"},
		{"sk-ant-" + "api03-" + a36, "[redacted:api-key]"},
		{"SG." + a36[:22] + "." + a36 + "1234567", "[redacted:sendgrid-key]"},
		{"npm_" + a36, "[redacted:npm-token]"},
		{"hf_" + a36[:34], "[redacted:huggingface-token]"},
		{"SK" + h32, "[redacted:twilio-key]"},
		{"hvs." + a36, "[redacted:vault-token]"},
		{jwt + ",", "[redacted:jwt],"},
		{"a\n-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb", "a\n[redacted:private-key]\nb"},
		{"-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXk", "[redacted:private-key]"},
		{`"-----BEGIN ` + `PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"`, `"[redacted:private-key]\n"`},
		{"postgres://app:s3cr3t@db:5432/x", "postgres://app:[redacted:url-password]@db:5432/x"},
		{"postgres://app:p@ss@db/x", "postgres://app:[redacted:url-password]@db/x"},
		{"redis://:hunter2@h", "redis://:[redacted:url-password]@h"},
		{"https://" + a36 + "@example.com/r.git", "https://[redacted:url-password]@example.com/r.git"},
		{"Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted:authorization]"},
		{"curl -H 'authorization: Basic dXNlcjpwYXNz' x", "curl -H 'authorization: Basic [redacted:authorization]' x"},
		{"map[Authorization:[Bearer abc123def] Host:[x]]", "map[Authorization:[Bearer [redacted:authorization]] Host:[x]]"},
		{`{"Authorization":"Token abcdef12"}`, `{"Authorization":"Token [redacted:authorization]"}`},
		{"got Bearer abcdefgh12345678 back", "got Bearer [redacted:bearer-token] back"},
		{"Cookie: sid=abc123; b=2\r\nHost: x", "Cookie: [redacted:cookie]\r\nHost: x"},
		{"Set-Cookie: sid=31d4d96e407aad42; Path=/", "Set-Cookie: [redacted:cookie]"},
		{"X-Api-Key: k3y-value-1", "X-Api-Key: [redacted:secret-value]"},
		{"password=hunter2 user=x", "password=[redacted:secret-value] user=x"},
		{"PGPASSWORD=swordfish psql", "PGPASSWORD=[redacted:secret-value] psql"},
		{"export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "export AWS_SECRET_ACCESS_KEY=[redacted:secret-value]"},
		{`password = "two words"`, `password = "[redacted:secret-value]"`},
		{`{"client_secret": "a\"b,c"}`, `{"client_secret": "[redacted:secret-value]"}`},
		{`msg="{\"token\":\"abc\\\"def\"}"`, `msg="{\"token\":\"[redacted:secret-value]\"}"`},
		{"https://h/p?q=1&access_token=abcd&x=2", "https://h/p?q=1&access_token=[redacted:secret-value]&x=2"},
		{"tool --password hunter2 --user x", "tool --password [redacted:secret-value] --user x"},
		{"api_key: 0a1b2c3d", "api_key: [redacted:secret-value]"},
		{"https://x.blob.core.windows.net/c?sv=1&sig=" + a36, "https://x.blob.core.windows.net/c?sv=1&sig=[redacted:azure-sas]"},
		{`{\"token\": \"a1b2c3d4\", \"n\": 1}`, `{\"token\": \"[redacted:secret-value]\", \"n\": 1}`},
		{"line\\nghp_" + a36 + "\\nline", "line\\n[redacted:github-token]\\nline"},
		{"q=ghp%5F" + a36, "q=[redacted:github-token]"},
	} {
		var none *redact.Redactor
		got := none.String(tc.text)
		if got != tc.want {
			t.Errorf("%q:\n got %q\nwant %q", tc.text, got, tc.want)
		}
		if again := none.String(got); again != got {
			t.Errorf("%q: twice is %q, once is %q", tc.text, again, got)
		}
	}
}

// TestKept has what must not be taken for a secret.
func TestKept(t *testing.T) {
	for _, text := range []string{
		"commit 9d5e5f7d3c2b1a0f9e8d7c6b5a4f3e2d1c0b9a8f",
		"550e8400-e29b-41d4-a716-446655440000",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"github.com/google/go-cmp v0.7.0 h1:wk8382ETsv4JYUZwIsn6YpYiWiBsYLSJiTsyBDMJqkw=",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"eyJhIjoxfQ", // base64 of an object, no token
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"https://example.com/a@b?c=d", "ssh://git@github.com/x/y.git", "git@github.com:x/y.git", "https://user@example.com/",
		"https://u:${PASSWORD}@h/", "mailto:a@example.com",
		"password=$PASSWORD", "token=${TOKEN:-x}", "password: ********", "api_key=<your key>", `"token": null`, "secret=",
		"the password: please type it", "token: string", "error: invalid token: unexpected EOF", "wrong password, try again",
		"max_tokens=4000", "tokens: 123456", "next_token=abcdef123", `"progressToken": "abc123def"`, "token_count=12345", "password_hash=abcdef12",
		"task-abcdefghijklmnop1234567890", "disk-abcdefghijklmnop1234567890", "sk-folding-cube-container-large", "class=\"sk-loading-spinner-1\"",
		"Token: cfg.Token,", "tok := lex.next()", "token = lex.token()", `os.Getenv("API_TOKEN")`, "func (p *parser) token(at int) token {",
		"Authorization: required", "the Authorization header", "cookie: chocolate", "Bearer of bad news is here today",
		"cwd=/home/user/project", "pwd: /tmp/x1", "AKIAIOSFODNN7EXAMPLEX1", "key-value pairs", "SKU 123", "hf_hub", "r8_x",
		"[redacted]", "[redacted:github-token]", "password=[redacted:secret-value]",
		"100%", "50% of \\d+ and C:\\new\\temp", "a & b &amp; c",
	} {
		var none *redact.Redactor
		if got := none.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestShortKnownValuesAreIgnored(t *testing.T) {
	r := redact.New([]string{"", "  ", "short", "[redacted", "longenough\n"})
	if got := r.Ignored(); got != 2 {
		t.Errorf("%d ignored, want 2", got)
	}
	if got := r.String("short longenough [redacted"); got != "short [redacted] [redacted" {
		t.Errorf("got %q", got)
	}
	var none *redact.Redactor
	if none.Ignored() != 0 {
		t.Error("a nil Redactor has ignored something")
	}
}

func TestKnownValueOfSeveralLines(t *testing.T) {
	r := redact.New([]string{"first line of it\nsecond line of it\n"})
	if got := r.String("a second line of it b\r\nfirst line of it"); got != "a [redacted] b\r\n[redacted]" {
		t.Errorf("got %q", got)
	}
}

func TestTouchingSecretsAreOne(t *testing.T) {
	r := redact.New([]string{"aaaabbbb", "bbbbcccc"})
	if got := r.String("xaaaabbbbccccx"); got != "x[redacted]x" {
		t.Errorf("got %q", got)
	}
	if got := r.String(strings.Repeat("aaaabbbb", 3)); got != "[redacted]" {
		t.Errorf("got %q", got)
	}
}
