package hooks

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace/redact"
)

// The built-in hooks.
const (
	confirm = "confirm"
	logs    = "log"
	redacts = "redact"
	rewrite = "rewrite"
)

// builtin makes the built-in hook of a Spec.
func (spec Spec) builtin(name string, f filter, opt Options) (run.Hooks, error) {
	events := map[string][]string{confirm: {pre}, logs: {post, erred, skip}, redacts: {post}, rewrite: {pre}}
	mine, ok := events[spec.Builtin]
	if !ok {
		return run.Hooks{}, at("builtin", noSuch(spec.Builtin, []string{confirm, logs, redacts, rewrite}))
	}
	if spec.Event != "" {
		if !slices.Contains(mine, spec.Event) {
			return run.Hooks{}, at("event", fmt.Errorf("%s: %w", spec.Builtin, noSuch(spec.Event, mine)))
		}
		mine = []string{spec.Event}
	}
	switch spec.Builtin {
	case confirm:
		return before(func(_ context.Context, v run.View) (run.Decision, error) {
			if !f.fits(v) {
				return run.Decision{}, nil
			}
			return run.Decision{By: name, Ask: question(spec.Question, name, v)}, nil
		}), nil
	case rewrite:
		rw, err := newRewriter(spec.Rewrite)
		if err != nil {
			return run.Hooks{}, err
		}
		return before(func(_ context.Context, v run.View) (run.Decision, error) {
			if !f.fits(v) {
				return run.Decision{}, nil
			}
			args, err := rw.apply(v.Args)
			return run.Decision{By: name, Args: args}, err
		}), nil
	case redacts:
		return run.Hooks{Redact: func(v run.View) run.Redactor {
			if !f.fits(v) {
				return nil
			}
			return opt.Redactor
		}}, nil
	default:
		return (&logger{f, name, opt.Log, opt.Redactor}).on(mine), nil
	}
}

func before(f func(context.Context, run.View) (run.Decision, error)) run.Hooks {
	return run.Hooks{Pre: []func(context.Context, run.View) (run.Decision, error){f}}
}

// logger writes a line for each call at every level of the log, since the user has
// configured it to see them.
type logger struct {
	filter
	name     string
	log      *slog.Logger
	redactor *redact.Redactor
}

func (l *logger) on(events []string) run.Hooks {
	var h run.Hooks
	if slices.Contains(events, post) {
		h.Post = append(h.Post, func(ctx context.Context, v run.View, _ any) { l.line(ctx, v, "ok") })
	}
	if slices.Contains(events, erred) {
		h.Error = append(h.Error, func(ctx context.Context, v run.View, e *tools.Error) { l.line(ctx, v, string(e.Code)) })
	}
	if slices.Contains(events, skip) {
		h.Skip = append(h.Skip, func(ctx context.Context, v run.View, _ tools.Result) { l.line(ctx, v, "skipped") })
	}
	return h
}

func (l *logger) line(ctx context.Context, v run.View, code string) {
	if !l.fits(v) {
		return
	}
	rec := slog.NewRecord(time.Now(), slog.LevelInfo, "call", 0)
	rec.AddAttrs(
		slog.String("hook", l.name), slog.String("call", v.ID), slog.String("tool", v.Tool.Name), slog.String("principal", v.Session.Principal),
		slog.String("client", v.Session.Client.Name), slog.String("code", code), slog.String("arguments", excerpt(string(l.redactor.JSON(v.Redacted)))),
	)
	_ = l.log.Handler().Handle(ctx, rec) // stderr is gone: nobody could be told
}
