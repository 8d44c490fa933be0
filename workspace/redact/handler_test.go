package redact_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"toolcrib/workspace/redact"
)

// holder has a secret where only some ways of printing show it.
type holder struct {
	Name  string
	inner string
}

type valuer struct{ secret string }

func (v valuer) LogValue() slog.Value {
	return slog.GroupValue(slog.String("in", v.secret), slog.Any("deep", slog.StringValue(v.secret)))
}

type marshals struct{ secret string }

func (marshals) String() string                 { return "nothing to see" }
func (m marshals) MarshalJSON() ([]byte, error) { return []byte(`"` + m.secret + `"`), nil }

type angry struct{}

func (*angry) Error() string { panic("no words") }

func TestHandler(t *testing.T) {
	const secret = "correct-horse-battery"
	r := redact.New([]string{secret, "1234567890123"})
	for name, make := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			log := slog.New(r.Handler(make(&b)))
			u := &url.URL{Scheme: "https", Host: "h", User: url.UserPassword("u", secret)}
			for _, args := range [][]any{
				{"plain", "a " + secret + " b"},
				{"err", fmt.Errorf("dial: %w", errors.New(secret))},
				{secret, "as the key"},
				{"group", slog.GroupValue(slog.String("a", secret), slog.Group("b", "c", secret))},
				{"valuer", valuer{secret}},
				{"struct", holder{secret, ""}}, {"unexported", holder{"", secret}}, {"pointer", &holder{secret, secret}},
				{"bytes", []byte(secret)}, {"list", []string{"x", secret}}, {"map", map[string]any{secret: 1}},
				{"url", u}, {"marshals", marshals{secret}}, {"number", 1234567890123},
				{"password", "hunter2"}, {"api_key", []byte("hunter2")}, {"token", errors.New("hunter2")},
				{"quoted", fmt.Sprintf("%q", `"`+secret+`"`)},
			} {
				b.Reset()
				log.Info("a message", args...)
				log.With(args...).Info("a message")
				log.WithGroup("g").With(args...).WithGroup(secret).Info(secret, args...)
				if got := b.String(); strings.Contains(got, secret) || strings.Contains(got, "hunter2") || strings.Contains(got, "1234567890123") {
					t.Errorf("%v: %s", args[0], got)
				}
				if got := b.String(); !strings.Contains(got, "[redacted") || strings.Count(got, "\n") != 3 {
					t.Errorf("%v: %s", args[0], got)
				}
			}
		})
	}
}

func TestHandlerKeepsWhatIsNoSecret(t *testing.T) {
	var want, got bytes.Buffer
	var none *redact.Redactor
	plain := slog.NewJSONHandler(&want, nil)
	for _, log := range []*slog.Logger{slog.New(plain), slog.New(none.Handler(slog.NewJSONHandler(&got, nil)))} {
		log = log.With("time", time.Unix(0, 0)).WithGroup("g")
		log.Info("a message", "n", 7, "d", time.Second, "b", true, "f", 1.5, "s", "text", "list", []int{1, 2}, "struct", struct{ A int }{3}, "nil", nil, "tokens", 4000)
		log.Warn("another", slog.Group("h", "x", "y"), "err", errors.New("odd"))
	}
	strip := func(b *bytes.Buffer) string { // the times of the records
		var out []string
		for line := range strings.Lines(b.String()) {
			_, rest, _ := strings.Cut(line, ",")
			out = append(out, rest)
		}
		return strings.Join(out, "")
	}
	if strip(&want) != strip(&got) {
		t.Errorf("want %s\ngot  %s", want.String(), got.String())
	}
}

func TestHandlerSurvivesValuesThatPanic(t *testing.T) {
	var b bytes.Buffer
	var none *redact.Redactor
	slog.New(none.Handler(slog.NewTextHandler(&b, nil))).Info("m", "err", error((*angry)(nil)))
	if got := b.String(); !strings.Contains(got, "no words") {
		t.Errorf("got %s", got)
	}
}
