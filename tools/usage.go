package tools

import "context"

// Usage is what turns of a model have taken. Tokens count once: those that were read from a
// provider's cache or written to it are not among In, those of thinking are among Out.
type Usage struct {
	Model      string  `json:"model"`
	Turns      uint64  `json:"turns"`
	In         uint64  `json:"tokens_in"`
	Out        uint64  `json:"tokens_out"`
	CacheRead  uint64  `json:"cache_read,omitempty"`
	CacheWrite uint64  `json:"cache_write,omitempty"`
	Thinking   uint64  `json:"thinking,omitempty"`
	Cost       float64 `json:"cost,omitempty"` // by the prices of the configuration; 0 = not known
}

// Plus returns the sum of two usages of a model.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		u.Model, u.Turns + v.Turns, u.In + v.In, u.Out + v.Out,
		u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Thinking + v.Thinking, u.Cost + v.Cost,
	}
}

// Minus returns what was added since an earlier sum.
func (u Usage) Minus(v Usage) Usage {
	return Usage{
		u.Model, u.Turns - v.Turns, u.In - v.In, u.Out - v.Out,
		u.CacheRead - v.CacheRead, u.CacheWrite - v.CacheWrite, u.Thinking - v.Thinking, u.Cost - v.Cost,
	}
}

// Used notes for the audit log and the statistics that the call has used a model. Call it when
// a turn has ended, also one that was of no use.
func Used(ctx context.Context, u Usage) {
	if note, ok := ctx.Value(usageKey{}).(func(Usage)); ok {
		note(u)
	}
}

// WithUsage returns a context whose [Used] calls note, from any goroutine.
func WithUsage(ctx context.Context, note func(Usage)) context.Context {
	return context.WithValue(ctx, usageKey{}, note)
}

type usageKey struct{}
