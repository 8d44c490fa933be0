package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"toolcrib/server/notify"

	"github.com/google/go-cmp/cmp"
)

func TestLogLevels(t *testing.T) {
	for _, tt := range []struct {
		level string
		want  []string
	}{
		{"debug", []string{"debug", "debug", "info", "info", "notice", "warning", "error", "error", "critical", "alert", "emergency"}},
		{"info", []string{"info", "info", "notice", "warning", "error", "error", "critical", "alert", "emergency"}},
		{"notice", []string{"notice", "warning", "error", "error", "critical", "alert", "emergency"}},
		{"warning", []string{"warning", "error", "error", "critical", "alert", "emergency"}},
		{"error", []string{"error", "error", "critical", "alert", "emergency"}},
		{"critical", []string{"critical", "alert", "emergency"}},
		{"alert", []string{"alert", "emergency"}},
		{"emergency", []string{"emergency"}},
	} {
		var want, got []string
		for _, level := range tt.want {
			want = append(want, `{"level":"`+level+`","data":"x"}`)
		}
		log := newLogger(tt.level, func(params string) { got = append(got, params) })
		for _, level := range []slog.Level{-8, slog.LevelDebug, slog.LevelInfo, 1, 2, slog.LevelWarn, slog.LevelError, 11, 12, 16, 30} {
			log.Log(context.Background(), level, "x")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s", tt.level, cmp.Diff(want, got))
		}
	}
}

func TestLogData(t *testing.T) {
	var got string
	base := newLogger("debug", func(params string) { got = params })
	for _, tt := range []struct {
		name string
		log  func()
		want string
	}{
		{"message", func() { base.Info("x") }, `{"level":"info","data":"x"}`},
		{"logger", func() { base.With("logger", "grep").Info("x") }, `{"level":"info","logger":"grep","data":"x"}`},
		{"values", func() {
			base.Info("x", "b", true, "d", 1500*time.Millisecond, "e", errors.New("bad"), "f", 1.5, "i", -1, "l", []string{"a"}, "n", nil,
				"s", "<s>", "t", time.Unix(0, 0).UTC(), "u", uint64(7))
		}, `{"level":"info","data":{"b":true,"d":"1.5s","e":"bad","f":1.5,"i":-1,"l":["a"],"message":"x","n":null,"s":"\u003cs\u003e","t":"1970-01-01T00:00:00Z","u":7}}`},
		{"not JSON", func() { base.Info("x", "c", make(chan int) == nil, "z", complex(1, 2)) }, `{"level":"info","data":{"c":false,"message":"x","z":"(1+2i)"}}`},
		{"groups", func() {
			base.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h").Info("x", "c", 3, slog.Group("k", "d", 4), slog.Group("", "e", 5))
		}, `{"level":"info","data":{"a":1,"g":{"b":2,"h":{"c":3,"e":5,"k":{"d":4}}},"message":"x"}}`},
		{"a group without attributes", func() { base.WithGroup("g").Info("x") }, `{"level":"info","data":"x"}`},
		{"siblings", func() {
			both := base.With("a", 1)
			both.With("b", 2)
			both.With("c", 3).Info("x")
		}, `{"level":"info","data":{"a":1,"c":3,"message":"x"}}`},
		{"a logger in a group is a field", func() { base.WithGroup("g").With("logger", "l").Info("x") }, `{"level":"info","data":{"g":{"logger":"l"},"message":"x"}}`},
	} {
		if tt.log(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// newLogger makes a logger; send gets the params as JSON.
func newLogger(level string, send func(params string)) *slog.Logger {
	return notify.NewLogger(level, func(params any) {
		data, err := json.Marshal(params)
		if err != nil {
			panic(err)
		}
		send(string(data))
	})
}
