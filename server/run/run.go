// Package run carries out one call of a tool. It knows tools, not MCP.
//
// Start reading at [pass.carry]: that function is the whole pipeline, and each of its
// stages is in the file of its name. The package imports tools and the packages below it.
// It must not import mcp-go.
package run

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"toolcrib/server/counts"
	"toolcrib/server/rules"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// Config configures a Runner; its zero value works, without tools.
type Config struct {
	Settings // at the start, see Reconfigure

	Observe Observer       // nil = nobody
	Limits  Limiter        // nil = none
	Caller  *Caller        // for tools that call other tools; nil = none do
	Log     *slog.Logger   // nil = discard
	Audit   Recorder       // nil = none
	Key     []byte         // 32 bytes that seal the state of asked calls; nil = a random key of this process
	Go      func(f func()) // runs a function in a goroutine; nil = a new one, see package workers
	Now     func() time.Time
}

// Runner carries out calls. Its methods may be called by several goroutines.
type Runner struct {
	cfg  Config // its Settings are those of the start: a pass reads its own
	live atomic.Pointer[live]

	calls    atomic.Uint64 // numbers the calls
	seal     *seal
	spawn    func(func())
	results  *results
	consents *consents
	metrics  counts.Calls
}

// New makes a Runner. It panics if two tools share a name or the key is too short: these
// are programming errors.
func New(cfg Config) *Runner {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Go == nil {
		cfg.Go = func(f func()) { go f() }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	r := &Runner{
		cfg:      cfg,
		seal:     newSeal(cfg.Key, cfg.Now),
		spawn:    cfg.Go,
		results:  newResults(cfg.Now, cfg.Go),
		consents: newConsents(cfg.Now),
	}
	l, err := r.newLive(cfg.Settings, nil)
	if err != nil {
		panic(err.Error())
	}
	r.live.Store(l)
	if cfg.Caller != nil {
		cfg.Caller.r.Store(r)
	}
	return r
}

// Tool returns the tool that a call by that name without arguments means.
func (r *Runner) Tool(name string) (tools.Tool, bool) {
	t, err := r.live.Load().names.Find(name, nil)
	return t, err == nil
}

// Busy reports whether calls are running.
func (r *Runner) Busy() bool { return r.metrics.Busy() }

// Stats returns a snapshot of the counters. Calls that end meanwhile may be in some of the
// numbers already.
func (r *Runner) Stats() counts.Stats { return r.metrics.Stats() }

// Run carries out a call and returns when it has ended or asks its user. It is Start and
// Wait in the goroutine of the caller. It returns within 100 ms of the end of ctx, even if
// the tool does not.
func (r *Runner) Run(ctx context.Context, call Call) Outcome {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return (&pass{r: r, call: call}).carry(ctx)
}

// pass is one run of a call through the pipeline. A call that asks its user takes several
// passes: each goes on where the last one stopped.
type pass struct {
	r      *Runner
	call   Call
	parent *pass // the call whose tool makes this call; nil for a call of a client
	absent bool  // nobody can be asked
	dry    bool  // a preflight: the pass ends before the cache

	// begin
	live     *live // the settings of the pass from here to its end
	id       string
	tool     tools.Tool
	unfound  error // why there is no tool; nil = there is one
	counters *counts.Counters
	started  time.Time
	end      func(Ending)         // tells the observer
	gate     *gate                // for messages to the client; nil: nobody listens
	ground   *workspace.Workspace // as the caller gave it; the session has the restricted view

	// bind, pre
	bound    tools.Bound
	plan     tools.Plan      // of the call; its access and effects are those of tool
	declared *tools.Tool     // as it is without the plan; nil = it has no plans
	mends    []string        // of the arguments as the caller sent them
	sent     json.RawMessage // canonical, likewise
	settled  *settlement     // of the earlier passes; nil on the first
	redacted json.RawMessage // the arguments as records and logs may show them; nil: none are bound
	replaced bool            // by a hook
	asked    []string        // what hooks want the user to be asked
	heard    *heard          // what hooks said; nil: nobody wants to know

	// policy, ask
	verdict  rules.Verdict
	rule     string
	question string // for the user's consent
	cause    string // of that question, without the arguments
	offer    *offer // of a consent for the session; nil = only for this call
	asker    *asker

	// cache, attempt
	value     any
	shown     *tools.Result // value within the limits of the tool, if rendered before; shared between calls
	source    source
	age       time.Duration // of a cached value
	attempts  atomic.Int32
	abandoned atomic.Bool // the handler still runs after the end of the call
	changed   changes
	used      used

	leave   func()            // releases the limits; nil: none were taken
	pending *tools.PendingAsk // the handler's question, set by shape
	inner   inner
}

// carry takes a call through the pipeline. An error of a stage ends the pass. errSkipped
// and *tools.PendingAsk are not failures: post and shape handle them.
func (p *pass) carry(ctx context.Context) (out Outcome) {
	ctx = p.begin(ctx)
	defer p.finish(ctx, &out)

	stop := p.bind()
	if stop == nil {
		stop = p.granted()
	}
	if stop == nil {
		stop = p.limit()
	}
	if stop == nil {
		stop = p.foresee(ctx)
	}
	if stop == nil {
		stop = p.pre(ctx)
	}
	if stop == nil {
		stop = p.policy(ctx)
	}
	if stop == nil {
		stop = p.ask()
	}
	if p.dry && (stop == nil || errors.Is(stop, errSkipped)) {
		return Outcome{}
	}
	if stop == nil {
		stop = p.cache(ctx)
	}
	stop = p.failure(ctx, stop)
	p.post(ctx, stop)
	return p.shape(stop)
}

// begin gives the call its id, clock, counters and context.
func (p *pass) begin(ctx context.Context) context.Context {
	p.id = p.r.seal.instance + "-" + strconv.FormatUint(p.r.calls.Add(1), 36)
	p.started, p.call.Session.Call = p.r.cfg.Now(), p.id
	p.ground = p.call.Session.Workspace
	if p.live = p.r.live.Load(); p.parent != nil {
		p.live = p.parent.live
	}
	p.find()
	name := p.tool.Name
	if p.call.Read != nil {
		name = counts.SourceReads
	}
	p.counters = p.r.metrics.Of(name)
	p.counters.Begin()
	p.asker = p.newAsker()

	ctx = tools.WithSession(ctx, &p.call.Session)
	ctx = context.WithValue(ctx, passKey{}, p)
	ctx, p.end = p.observe(ctx, PartCall, 0)
	return p.listen(ctx)
}

// find sets the tool that the call means.
func (p *pass) find() {
	if p.call.Read != nil {
		p.tool = *p.call.Read
		return
	}
	p.tool, p.unfound = p.live.names.Find(p.call.Tool, p.call.Args)
}

type passKey struct{}

// finish is deferred by carry, so that it runs once, however the pass ends.
func (p *pass) finish(ctx context.Context, out *Outcome) {
	if v := recover(); v != nil {
		err := p.failure(ctx, &tools.PanicError{Value: v, Stack: debug.Stack()})
		*out = p.shape(err)
	}
	p.gate.end(ctx)
	p.counters.Leave()
	if p.leave != nil {
		p.leave()
	}
	if p.dry && out.Err == nil {
		return // the call itself is still to come
	}
	p.conclude(out)
}

// conclude reports the end of the call to the observer, the statistics and the audit log.
func (p *pass) conclude(out *Outcome) {
	p.end(Ending{Code: p.code(out), Source: sources[p.source], Attempts: int(p.attempts.Load())})
	took := p.r.cfg.Now().Sub(p.started)
	p.counters.Count(counts.Ended{
		Err: out.Err, Asked: out.Ask != nil, Skipped: p.source == sourceHook, Cached: p.source == sourceCache, Joined: p.source == sourceJoined,
		Took: took, In: len(p.call.Args), Result: &out.Result,
	})
	_ = p.record(EventEnd, out, took) // record logs its error; the call is over
}

// bind finds the tool and turns the arguments into the tool's own type. On a
// later pass it opens the state that the call brings back.
func (p *pass) bind() (err error) {
	if p.unfound != nil {
		return p.unfound
	}
	if lacking := p.tool.Lacks(p.call.Session.Client); len(lacking) > 0 {
		e := tools.Errorf(tools.Unsupported, "%s: this client lacks the ability %s", p.tool.Name, lacking[0]).
			WithHint("the user can call it from a client that has it")
		e.Err = &tools.AbilityError{Lacking: lacking}
		return e
	}
	if p.settled == nil && p.parent != nil && !p.dry {
		p.settled = p.parent.inner.take(p)
	}
	if p.settled != nil && p.settled.bound != nil {
		p.bound = *p.settled.bound
	} else if p.bound, err = p.tool.Bind(p.call.Args); err != nil {
		return err
	}
	for _, mend := range p.bound.Mends {
		p.mends = append(p.mends, shown(mend))
	}
	p.sent = p.bound.Canonical
	if p.settled == nil && p.call.Reply != nil {
		if p.settled, err = p.r.seal.open(p); err != nil {
			return err
		}
	}
	if p.settled != nil {
		return p.resume()
	}
	return nil
}

// resume restores the decisions and answers of earlier passes.
func (p *pass) resume() (err error) {
	p.verdict, p.rule = p.settled.Verdict, p.settled.Rule
	p.question, p.cause, p.offer = p.settled.Question, p.settled.Cause, p.settled.Offer
	if p.parent == nil {
		p.asker.answers = p.settled.Answers
	}
	if p.settled.Args != nil {
		p.replaced = true
		p.bound, err = p.tool.Bind(p.settled.Args)
	}
	return err
}
