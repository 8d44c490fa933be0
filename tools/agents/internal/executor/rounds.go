package executor

import (
	"context"
	"encoding/json"

	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
)

// round is a turn of the model with its calls.
type round struct {
	blocks  []model.Block
	use     *model.Use
	results map[string]loop.Record
	open    int // calls without a result
}

// open returns the round in which the next thing happens. Where the program does not tell them
// apart, a round ends when its calls have their results and something else comes.
func (r *run) open(ctx context.Context) *round {
	if r.round != nil && !r.exact && len(r.round.results) > 0 && r.round.open == 0 {
		r.close(ctx)
	}
	if r.round == nil {
		r.round = &round{results: map[string]loop.Record{}}
		if r.ending != nil && r.ending.working {
			r.ending = nil // it tries again
		}
		r.over = r.over || r.final != "" && r.rounds > r.finalIn+1
	}
	return r.round
}

// add adds a block to the round.
func (r *run) add(ctx context.Context, b model.Block) {
	o := r.open(ctx)
	o.blocks = append(o.blocks, b)
}

// begin adds a call to the round.
func (r *run) begin(ctx context.Context, c *model.Call) {
	r.add(ctx, model.Block{Call: c})
	r.round.open++
}

// result adds the result of a call of the round, if it has that call.
func (r *run) result(id string, record loop.Record) {
	if r.round == nil {
		return
	}
	for _, b := range r.round.blocks {
		if _, has := r.round.results[id]; b.Call != nil && b.Call.ID == id && !has {
			record.Kind, record.Call, record.Tool, record.Text = loop.Result, id, b.Call.Name, loop.Kept(record.Text)
			r.round.results[id] = record
			if record.Use != nil {
				r.base.Use, r.base.Cost = r.base.Use.Add(*record.Use), r.base.Cost+record.Cost
			}
			r.round.open--
		}
	}
}

// ran returns what a call of a tool of the program's own has run.
func (r *run) ran(id string) []string {
	if r.round == nil {
		return nil
	}
	for _, b := range r.round.blocks {
		var in struct{ Command string }
		if b.Call != nil && b.Call.ID == id && json.Unmarshal(b.Call.Arguments, &in) == nil && in.Command != "" {
			return []string{b.Call.Name + " " + in.Command}
		}
	}
	return nil
}

// close keeps the round.
func (r *run) close(ctx context.Context) { r.keep(ctx, nil, 0) }

// keep keeps the round; its use and cost are those of the whole run if it is the last one.
func (r *run) keep(ctx context.Context, whole *model.Use, cost float64) {
	o := r.round
	if o == nil || len(o.blocks) == 0 && o.use == nil && whole == nil {
		r.round = nil
		return
	}
	r.round = nil
	record := loop.Record{Kind: loop.Turn, From: r.from, Blocks: o.blocks, Stop: model.Stop, Use: o.use}
	switch {
	case whole != nil: // what the earlier rounds did not report
		use := whole.Add(model.Use{In: -r.reported.In, CacheRead: -r.reported.CacheRead, CacheWrite: -r.reported.CacheWrite, Out: -r.reported.Out, Thinking: -r.reported.Thinking})
		record.Use = &use
	case o.use == nil:
		r.guessed = r.guessed.Add(r.guess(o))
	default:
		r.reported = r.reported.Add(*o.use)
	}
	if record.Use != nil {
		record.Cost = r.Executor.cost(*record.Use, cost)
	}
	for _, b := range o.blocks {
		if b.Call != nil {
			record.Stop = model.Calls
		}
	}
	r.write(ctx, record)
	r.rounds++
	for _, b := range o.blocks {
		if b.Call == nil {
			continue
		}
		if result, has := o.results[b.Call.ID]; has {
			r.write(ctx, result)
		}
	}
	if r.final != "" && r.finalIn == r.rounds-1 {
		r.write(ctx, loop.Record{Kind: loop.Final, Tool: r.final, Text: loop.FinalText(r.final)})
	}
}

// guess estimates what a round has used: what it said, and what was new to it.
func (r *run) guess(o *round) model.Use {
	use := model.Use{Estimated: true}
	for _, b := range o.blocks {
		use.Out += model.Estimate(b.Text)
		if b.Thinking != nil {
			use.Out += model.Estimate(b.Thinking.Text)
		}
		if b.Call != nil {
			use.Out += model.Estimate(string(b.Call.Arguments))
		}
	}
	for _, result := range o.results {
		use.In += model.Estimate(result.Text)
	}
	if r.rounds == 0 {
		use.In += model.Estimate(r.Loop.System + prompt(r.records))
	}
	return use
}

// spent is what the run has used with the round that is open.
func (r *run) spent() loop.Spent {
	s := r.base
	s.Rounds += r.rounds
	s.Use = s.Use.Add(r.reported).Add(r.guessed)
	if o := r.round; o != nil {
		s.Rounds++
		if o.use != nil {
			s.Use = s.Use.Add(*o.use)
		} else {
			s.Use = s.Use.Add(r.guess(o))
		}
	}
	s.Cost += r.Executor.cost(r.reported.Add(r.guessed), 0)
	return s
}

// used returns what the run has used where not every round said so, and what the program says
// that it cost. nil = every round said so.
func (r *run) used() (whole *model.Use, cost float64) {
	if r.ending != nil {
		cost = r.ending.cost
		if r.ending.use != nil && r.reported == (model.Use{}) {
			return r.ending.use, cost
		}
	}
	use := r.guessed
	if o := r.round; o != nil && o.use == nil && len(o.blocks) > 0 {
		use = use.Add(r.guess(o))
	} else if o != nil && o.use != nil {
		use = use.Add(*o.use)
	}
	if !use.Estimated {
		return nil, cost
	}
	use = use.Add(r.reported)
	return &use, cost
}
