// Package records keeps the records of calls in the audit log: it decides how much of a
// call a record may show, and how long the call waits for its record.
//
// It connects server/run, which knows calls, to server/audit, which does not, and opens
// nothing itself. Start at [Recorder.Record].
package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"toolcrib/server/audit"
	"toolcrib/server/run"
	"toolcrib/workspace/redact"
)

const (
	// maxHanded is how many bytes of arguments may wait for the goroutine of the log:
	// longer ones would have to be copied whole, to keep 2 KiB of them.
	maxHanded = 4 << 10
	// ownSize is about how many bytes a record takes in memory, without the caller's text.
	ownSize = 512
)

// Recorder is the [run.Recorder] of a server.
type Recorder struct {
	log     *audit.Log
	secrets *redact.Redactor

	mu   sync.Mutex
	open map[string]run.Record // of calls that have begun and not ended, by id; without arguments
}

var _ run.Recorder = (*Recorder)(nil)

// New returns a Recorder that keeps records in a log, without secrets. The Recorder does
// not close the log.
func New(log *audit.Log, secrets *redact.Redactor) *Recorder {
	return &Recorder{log: log, secrets: secrets, open: map[string]run.Record{}}
}

// Record implements [run.Recorder]. The begin record of a call waits for the disk,
// its end record goes there at once and the answer does not wait for it; records of
// calls without effects follow within 100 ms. What nobody waits for is worded by the
// goroutine that writes.
func (r *Recorder) Record(rec run.Record) error {
	if rec.Event == run.EventBegin {
		return r.begin(rec)
	}
	r.mu.Lock()
	begun, began := r.open[rec.ID]
	delete(r.open, rec.ID)
	r.mu.Unlock()
	promise := audit.Later
	if began { // with the same arguments
		promise, rec.Digest, rec.Arguments = audit.Soon, begun.Digest, nil
	}
	if len(rec.Arguments) > maxHanded {
		line, err := r.line(&rec)
		if err != nil {
			return err
		}
		return r.log.Append(line, promise)
	}
	rec.Arguments = bytes.Clone(rec.Arguments)
	return r.log.AppendMade(func() ([]byte, error) { return r.line(&rec) }, size(rec), promise)
}

// begin keeps the begin record of a call and returns when it is on the disk.
func (r *Recorder) begin(rec run.Record) error {
	line, err := r.line(&rec)
	if err != nil {
		return err
	}
	rec.Arguments = nil
	r.mu.Lock()
	r.open[rec.ID] = rec
	r.mu.Unlock()
	return r.log.Append(line, audit.Now)
}

// Abandon records the calls that have begun but not ended.
func (r *Recorder) Abandon() error {
	r.mu.Lock()
	open := r.open
	r.open = map[string]run.Record{}
	r.mu.Unlock()
	var errs []error
	for _, rec := range open {
		rec.Time, rec.Event = time.Now(), run.EventAbandoned
		errs = append(errs, r.Record(rec))
	}
	return errors.Join(errs...)
}

// line returns the record as the log has it, and makes rec tell no more than that.
func (r *Recorder) line(rec *run.Record) ([]byte, error) {
	if len(rec.Arguments) > 0 {
		rec.Digest, rec.Arguments = r.log.Digest(rec.Arguments), r.log.Arguments(rec.Arguments)
	}
	for _, text := range []*string{&rec.Tool, &rec.Principal, &rec.Client, &rec.Note} {
		*text = r.secrets.String(*text)
	}
	for _, list := range [][]string{rec.Paths, rec.Changed, rec.Programs} {
		for i := range list {
			list[i] = r.secrets.String(list[i])
		}
	}
	return json.Marshal(rec)
}

// size returns about how many bytes a record holds on to.
func size(rec run.Record) int {
	n := ownSize + len(rec.Arguments) + len(rec.Tool) + len(rec.Principal) + len(rec.Client) + len(rec.Note)
	for _, list := range [][]string{rec.Paths, rec.Changed, rec.Programs} {
		for _, path := range list {
			n += len(path) + 16 // of its header
		}
	}
	return n
}
