package run

import (
	"slices"
	"sync"

	"toolcrib/server/counts"
	"toolcrib/tools"
)

// used sums up what a call uses of models.
type used struct {
	mu     sync.Mutex
	models []tools.Usage
}

// use counts what the tool of the call has used of a model.
func (p *pass) use(u tools.Usage) {
	u.Turns = max(u.Turns, 1)
	p.r.metrics.Use(counts.Usage{
		Day: p.r.cfg.Now().Format("2006-01-02"), Tool: p.tool.Name, Principal: excerpt(p.call.Session.Principal, maxAuditText), Usage: u,
	})
	p.used.mu.Lock()
	defer p.used.mu.Unlock()
	i := slices.IndexFunc(p.used.models, func(m tools.Usage) bool { return m.Model == u.Model })
	if i < 0 {
		p.used.models = append(p.used.models, u)
		return
	}
	p.used.models[i] = p.used.models[i].Plus(u)
}

func (u *used) list() []tools.Usage {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.models)
}
