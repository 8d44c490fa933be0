package run

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// audit writes one JSON object a line: one at the end of each call, and before
// that one at the beginning of each call of a tool with effects.
type audit struct {
	mu sync.Mutex
	w  io.Writer // nil = none
}

// event is the kind of a record.
type event string

const (
	eventBegin event = "begin"
	eventEnd   event = "end"
)

// Bounds of what a caller can make a record say.
const (
	maxAuditPaths = 32
	maxAuditText  = 512
)

// auditRecord names what was done, never the values of arguments beside paths.
type auditRecord struct {
	Time      time.Time `json:"time"`
	Event     event     `json:"event"`
	ID        string    `json:"id"`
	Parent    string    `json:"parent,omitempty"`
	Tool      string    `json:"tool"`
	Principal string    `json:"principal"`
	Client    string    `json:"client,omitempty"`
	Access    string    `json:"access"`
	Verdict   string    `json:"verdict,omitempty"`
	Rule      string    `json:"rule,omitempty"`
	Code      string    `json:"code,omitempty"` // ok, asked, skipped or the code of the error
	Micros    int64     `json:"micros,omitempty"`
	Attempts  int32     `json:"attempts,omitempty"`
	Args      string    `json:"args,omitempty"` // keyed digest
	Paths     []string  `json:"paths,omitempty"`
	MorePaths int       `json:"more_paths,omitempty"`
}

// record writes a record of the call. An error is logged too.
func (p *pass) record(ev event, out *Outcome, took time.Duration) error {
	if p.r.audit.w == nil {
		return nil
	}
	rec := auditRecord{
		Time: p.r.cfg.Now(), Event: ev, ID: p.id,
		Tool: p.tool.Name, Principal: excerpt(p.call.Session.Principal, maxAuditText), Client: excerpt(p.call.Session.Client.Name, maxAuditText),
		Access: p.tool.Access.String(), Verdict: p.verdict.String(), Rule: p.rule,
	}
	if p.parent != nil {
		rec.Parent = p.parent.id
	}
	if rec.Tool == "" {
		rec.Tool = excerpt(p.call.Tool, maxAuditText)
	}
	if out != nil {
		rec.Code, rec.Micros, rec.Attempts = p.code(out), took.Microseconds(), p.attempts.Load()
	}
	if p.bound.Canonical != nil {
		d := p.r.seal.digest(p.bound.Canonical)
		rec.Args = hex.EncodeToString(d[:16])
	}
	for i, arg := range p.bound.Paths {
		if i == maxAuditPaths {
			rec.MorePaths = len(p.bound.Paths) - i
			break
		}
		rec.Paths = append(rec.Paths, excerpt(arg.Value, maxAuditText))
	}
	err := p.r.audit.write(rec)
	if err != nil {
		p.log().Error("audit", "err", err)
	}
	return err
}

func (a *audit) write(rec auditRecord) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(rec); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := a.w.Write(line.Bytes())
	return err
}

// code names how the call ended.
func (p *pass) code(out *Outcome) string {
	switch {
	case out.Err != nil:
		return string(out.Err.Code)
	case out.Ask != nil:
		return "asked"
	case p.source == sourceHook:
		return "skipped"
	}
	return "ok"
}

func (p *pass) log() *slog.Logger {
	return p.r.cfg.Log.With("call", p.id, "tool", p.tool.Name)
}

// excerpt shortens text that a caller has written; the mark says so.
func excerpt(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit, 0)], "") + "…"
}
