package run

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
)

// Recorder stores the records of calls. Its methods may be called by several goroutines.
type Recorder interface {
	// Record stores a record. If its Event is EventBegin, Record returns once the record
	// will survive any failure, or returns an error. Other records may be stored a moment
	// later, so the Recorder owns the lists of rec; it may use Arguments only until it
	// returns.
	Record(rec Record) error
}

// Event is the kind of a record.
type Event string

// The events. A call of a tool with effects has a begin record before the first
// of them; every call has an end record, one that asks its user for each pass.
const (
	EventBegin Event = "begin"
	EventEnd   Event = "end"
	// EventAbandoned is for a call that had not ended when the server ended.
	EventAbandoned Event = "abandoned"
	// EventRefused is for a request over HTTP that was refused before it became a call.
	EventRefused Event = "refused"
)

// Record describes a call, never the content of its result.
type Record struct {
	Time      time.Time `json:"time"`
	Event     Event     `json:"event"`
	ID        string    `json:"id,omitempty"`
	Parent    string    `json:"parent,omitempty"` // id of the call whose tool made this one
	Tool      string    `json:"tool,omitempty"`   // as it was called, where no tool has that name
	Principal string    `json:"principal,omitempty"`
	Client    string    `json:"client,omitempty"`
	Access    string    `json:"access,omitempty"`
	Effects   string    `json:"effects,omitempty"`
	Verdict   string    `json:"verdict,omitempty"`
	Rule      string    `json:"rule,omitempty"`
	Code      string    `json:"code,omitempty"`   // ok, asked, skipped or the code of the error; of refused the HTTP status
	Source    string    `json:"source,omitempty"` // cache, joined or hook where the tool itself did not run
	Micros    int64     `json:"micros,omitempty"`
	Attempts  int32     `json:"attempts,omitempty"`
	// Abandoned reports whether the tool went on after the end of its call.
	Abandoned bool `json:"abandoned,omitempty"`
	// Digest is the digest of Arguments as the Recorder received them. The Recorder sets
	// it.
	Digest string `json:"digest,omitempty"`
	// Arguments are the canonical arguments without the secrets that the tool finds in
	// them. Invalid arguments are as they were sent if the tool looks for no secrets;
	// those of an unknown tool are left out. The Recorder stores as much of them as it
	// may show.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Paths     []string        `json:"paths,omitempty"` // among the arguments
	MorePaths int             `json:"more_paths,omitempty"`
	Programs  []string        `json:"programs,omitempty"` // that its commands name
	MoreRun   int             `json:"more_programs,omitempty"`
	Changed   []string        `json:"changed,omitempty"` // paths that the call has changed
	MoreDone  int             `json:"more_changed,omitempty"`
	Used      []tools.Usage   `json:"used,omitempty"` // of models
	Note      string          `json:"note,omitempty"` // of refused: the reason
}

// AuditFailure decides on a call with effects whose begin record cannot be stored. Calls
// that only read go on in any case.
type AuditFailure string

// The values of AuditFailure.
const (
	AuditDeny  AuditFailure = "deny"  // it ends as unavailable before anything is done
	AuditAllow AuditFailure = "allow" // it goes on, with a line in the log
)

// Limits of texts of the caller in a record.
const (
	maxAuditPaths = 32
	maxAuditText  = 512
)

// record stores a record of the call. An error is also logged.
func (p *pass) record(ev Event, out *Outcome, took time.Duration) error {
	if p.r.cfg.Audit == nil {
		return nil
	}
	rec := Record{
		Time: p.r.cfg.Now(), Event: ev, ID: p.id,
		Tool: p.tool.Name, Principal: excerpt(p.call.Session.Principal, maxAuditText), Client: excerpt(p.call.Session.Client.Name, maxAuditText),
		Access: p.tool.Access.String(), Verdict: p.verdict.String(), Rule: p.rule,
		Arguments: p.redactedArgs(),
	}
	if p.parent != nil {
		rec.Parent = p.parent.id
	}
	if rec.Tool == "" {
		rec.Tool, rec.Access = excerpt(p.call.Tool, maxAuditText), ""
	} else {
		rec.Effects = p.tool.Effects.String()
	}
	if out != nil {
		rec.Code, rec.Micros, rec.Attempts = p.code(out), took.Microseconds(), p.attempts.Load()
		rec.Abandoned = p.abandoned.Load()
		rec.Changed, rec.MoreDone = p.changed.list()
		rec.Used = p.used.list()
		if p.source != sourceTool {
			rec.Source = sources[p.source]
		}
	}
	for i, arg := range p.bound.Paths {
		if i == maxAuditPaths {
			rec.MorePaths = len(p.bound.Paths) - i
			break
		}
		rec.Paths = append(rec.Paths, excerpt(arg.Value, maxAuditText))
	}
	if !p.plan.Private {
		rec.Programs = p.programs()
	}
	if n := len(rec.Programs) - maxAuditPaths; n > 0 {
		rec.Programs, rec.MoreRun = rec.Programs[:maxAuditPaths], n
	}
	err := p.r.cfg.Audit.Record(rec)
	if err != nil {
		p.log().Error("audit", "err", err)
	}
	return err
}

// redactedArgs returns the arguments as records and logs may show them.
func (p *pass) redactedArgs() json.RawMessage {
	switch {
	case p.redacted != nil:
		return p.redacted
	case len(p.call.Args) > 0 && (p.tool.Name == "" || p.tool.Redacts()):
		return tools.Withheld(p.call.Args)
	case p.bound.Canonical != nil:
		return p.bound.Canonical
	}
	return p.call.Args
}

// begun records a call with effects before the tool runs.
func (p *pass) begun() error {
	if p.tool.Effects == tools.None {
		return nil
	}
	if err := p.record(EventBegin, nil, 0); err != nil && p.live.AuditFailure != AuditAllow {
		return tools.Errorf(tools.Unavailable, "%s: the audit log cannot be written", p.tool.Name).
			WithHint("tell the user; only reading tools work until it can")
	}
	return nil
}

// changes collects the paths that a call changes.
type changes struct {
	mu    sync.Mutex
	paths []string
	more  int
}

func (c *changes) add(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case slices.Contains(c.paths, path):
	case len(c.paths) == maxAuditPaths:
		c.more++
	default:
		c.paths = append(c.paths, excerpt(path, maxAuditText))
	}
}

func (c *changes) list() (paths []string, more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.paths), c.more
}

// noteChanges has the changes of the tool noted, if there is a Recorder.
func (p *pass) noteChanges(ctx context.Context) context.Context {
	if p.r.cfg.Audit == nil || !p.tool.Effects.Has(tools.Workspace) {
		return ctx
	}
	return tools.WithChanges(ctx, p.changed.add)
}

// code returns the code for how the call ended.
func (p *pass) code(out *Outcome) string {
	switch {
	case out.Err != nil:
		return string(out.Err.Code)
	case out.Ask != nil:
		return codeAsked
	case p.source == sourceHook:
		return codeSkipped
	}
	return codeOK
}

// Codes of calls that end without an error.
const (
	codeOK      = "ok"
	codeAsked   = "asked"
	codeSkipped = "skipped" // by a hook
)

// Codes returns all possible values of Code in a Record about a call.
func Codes() []string {
	codes := []string{codeOK, codeAsked, codeSkipped}
	for _, c := range tools.Codes() {
		codes = append(codes, string(c))
	}
	return codes
}

func (p *pass) log() *slog.Logger {
	return p.r.cfg.Log.With("call", p.id, "tool", p.tool.Name)
}

// excerpt shortens a text of the caller and marks the cut.
func excerpt(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit, 0)], "") + "…"
}
