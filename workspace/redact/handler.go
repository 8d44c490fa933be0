package redact

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Handler returns a handler that passes the records to next without their secrets. It looks
// at messages, keys and values of attributes, groups, and the values that a LogValuer
// returns. It replaces the whole value of an attribute whose key names a secret.
func (r *Redactor) Handler(next slog.Handler) slog.Handler { return handler{next, r} }

type handler struct {
	slog.Handler
	r *Redactor
}

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, rec slog.Record) error {
	clean := slog.NewRecord(rec.Time, rec.Level, h.r.String(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.r.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(h.r.attrs(attrs)), h.r}
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(h.r.String(name)), h.r}
}

func (r *Redactor) attrs(list []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(list))
	for i, a := range list {
		clean[i] = r.attr(a)
	}
	return clean
}

func (r *Redactor) attr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	key := r.String(a.Key)
	switch a.Value.Kind() {
	case slog.KindGroup:
		return slog.Attr{Key: key, Value: slog.GroupValue(r.attrs(a.Value.Group())...)}
	case slog.KindBool, slog.KindDuration, slog.KindTime, slog.KindLogValuer:
		return slog.Attr{Key: key, Value: a.Value}
	case slog.KindAny:
		return slog.Attr{Key: key, Value: r.value(a.Key, a.Value.Any())}
	default: // a string or a number
		text := a.Value.String()
		switch shown := r.String(text); {
		case SecretName(a.Key) && len(text) >= leastQuoted && !placeholder(text):
			return slog.String(key, markOf("secret-value"))
		case shown != text:
			return slog.String(key, shown)
		}
		return slog.Attr{Key: key, Value: a.Value}
	}
}

// value returns v as it is if no handler can show a secret of it, else as redacted text.
func (r *Redactor) value(key string, v any) slog.Value {
	var text string
	switch v := v.(type) {
	case nil:
		return slog.AnyValue(nil)
	case error:
		return slog.StringValue(r.named(key, said(v.Error)))
	case []byte:
		return slog.StringValue(r.named(key, string(v)))
	case json.RawMessage:
		return slog.StringValue(string(r.JSON(v)))
	case fmt.Stringer:
		text = said(v.String)
	default:
		text = fmt.Sprintf("%+v", v)
	}
	if shown := r.named(key, text); shown != text {
		return slog.StringValue(shown)
	}
	data, err := marshalled(v)
	if err != nil {
		return slog.StringValue(text)
	}
	if shown := r.JSON(data); string(shown) != string(data) {
		return slog.StringValue(string(shown))
	}
	return slog.AnyValue(v)
}

func (r *Redactor) named(key, text string) string {
	if SecretName(key) && len(text) >= leastQuoted && !placeholder(text) {
		return markOf("secret-value")
	}
	return r.String(text)
}

// said returns the text of a method of a logged value, also if it panics, as it does for
// some nil pointers.
func said(method func() string) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("!PANIC: %v", v)
		}
	}()
	return method()
}

func marshalled(v any) (data []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("marshal: %v", p)
		}
	}()
	return json.Marshal(v)
}
