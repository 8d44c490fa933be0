package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// LoggerKey is the attribute that names the logger in notifications/message.
const LoggerKey = "logger"

// logLevels are the levels of the protocol, each with the lowest level of slog that it
// includes, the most severe first.
var logLevels = [...]struct {
	name  string
	least slog.Level
}{
	{"emergency", 20},
	{"alert", 16},
	{"critical", 12},
	{"error", slog.LevelError},
	{"warning", slog.LevelWarn},
	{"notice", 2},
	{"info", slog.LevelInfo},
	{"debug", slog.Level(-1 << 31)},
}

// NewLogger returns a logger whose records of at least a level go to send as the
// params of notifications/message. A level that does not exist is info.
func NewLogger(level string, send func(params any)) *slog.Logger {
	h := &logHandler{least: slog.LevelInfo, send: send}
	for _, l := range logLevels {
		if l.name == level {
			h.least = l.least
		}
	}
	return slog.New(h)
}

// logParams are the params of notifications/message. Data is the message, or an
// object of the message and the attributes where there are any.
type logParams struct {
	Level  string `json:"level"`
	Logger string `json:"logger,omitempty"`
	Data   any    `json:"data"`
}

// logHandler turns records into notifications.
type logHandler struct {
	least slog.Level
	send  func(params any)
	name  string // of the logger
	scope []scope
}

// scope is attributes of a logger, below the groups that were open then.
type scope struct {
	groups []string
	attrs  []slog.Attr
}

// Enabled implements [slog.Handler].
func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.least }

// Handle implements [slog.Handler].
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	p := logParams{Level: "debug", Logger: h.name, Data: r.Message}
	for _, l := range logLevels {
		if r.Level >= l.least {
			p.Level = l.name
			break
		}
	}
	fields := map[string]any{}
	for _, s := range h.scope {
		put(fields, s.groups, s.attrs)
	}
	attrs := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	put(fields, h.groups(), attrs)
	if len(fields) > 0 {
		fields["message"] = r.Message
		p.Data = fields
	}
	h.send(p)
	return nil
}

// WithAttrs implements [slog.Handler].
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	groups := h.groups()
	if len(groups) == 0 {
		attrs = slices.DeleteFunc(slices.Clone(attrs), func(a slog.Attr) bool {
			if a.Key == LoggerKey {
				c.name = a.Value.String()
			}
			return a.Key == LoggerKey
		})
	}
	c.scope = append(slices.Clip(h.scope), scope{groups, attrs})
	return &c
}

// WithGroup implements [slog.Handler].
func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	c := *h
	c.scope = append(slices.Clip(h.scope), scope{groups: append(slices.Clip(h.groups()), name)})
	return &c
}

// groups returns the groups that are open.
func (h *logHandler) groups() []string {
	if len(h.scope) == 0 {
		return nil
	}
	return h.scope[len(h.scope)-1].groups
}

// put puts attributes into an object, below groups.
func put(object map[string]any, groups []string, attrs []slog.Attr) {
	if len(attrs) == 0 {
		return
	}
	for _, g := range groups {
		inner, ok := object[g].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[g] = inner
		}
		object = inner
	}
	for _, a := range attrs {
		value := a.Value.Resolve()
		switch {
		case a.Equal(slog.Attr{}):
		case value.Kind() != slog.KindGroup:
			object[a.Key] = logValue(value)
		case a.Key == "":
			put(object, nil, value.Group())
		default:
			put(object, []string{a.Key}, value.Group())
		}
	}
}

// logValue is an attribute as JSON shows it.
func logValue(v slog.Value) any {
	switch v.Kind() {
	case slog.KindBool, slog.KindInt64, slog.KindUint64, slog.KindString:
		return v.Any()
	case slog.KindTime:
		return v.Time().Format(time.RFC3339Nano)
	case slog.KindFloat64:
		if f := v.Float64(); finite(f) {
			return f
		}
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			return err.Error()
		}
		if data, err := json.Marshal(v.Any()); err == nil {
			return json.RawMessage(data)
		}
	}
	return fmt.Sprint(v.Any())
}
