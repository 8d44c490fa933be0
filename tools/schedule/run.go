package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/durable"
)

// input is that of a durable run. The arguments of the call are in the database of schedules
// alone, since they may hold secrets.
type input struct {
	Schedule string    `json:"schedule"`
	Run      string    `json:"run"`
	Slot     time.Time `json:"slot,omitzero"`
	Before   time.Time `json:"before,omitzero"` // the slot that was dealt with before this one
	Missed   int       `json:"missed,omitempty"`
}

// mostResult is how many bytes of a result are kept.
const mostResult = 20_000

// run is the durable run: it calls the tool of a schedule.
func (k *keeper) run(r *durable.Run, raw json.RawMessage) (json.RawMessage, error) {
	var in input
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	s, err := k.find(r, in.Schedule)
	if err != nil {
		return nil, err
	}
	verdict, err := durable.Step(r, "admit", func(ctx context.Context) (string, error) { return k.admit(ctx, s, in) })
	if err != nil || verdict != running {
		return nil, err
	}
	defer k.end()
	var code tools.Code
	for n := 0; n <= s.Spec.Retries; n++ {
		if n > 0 {
			if err := pause(r.Context(), n); err != nil {
				return nil, err
			}
		}
		last := n == s.Spec.Retries
		code, err = durable.Effect(r, fmt.Sprintf("call %d", n+1), s.Spec.Repeat, func(ctx context.Context) (tools.Code, error) {
			return k.call(ctx, s, in, last)
		})
		if u, lost := errors.AsType[*durable.Unknown](err); lost {
			o := outcome{Run: in.Run, Ended: k.deps.Now(), State: unknown, Note: u.Error() + "; look before it is repeated"}
			_, err = durable.Step(r, "note", func(ctx context.Context) (bool, error) { return true, k.persist(ctx, s.ID, o) })
			return nil, err
		}
		if err != nil || !code.Retryable() {
			break
		}
	}
	k.prune(r.Context())
	return nil, err
}

// find returns the schedule of a run; it waits for a database that does not answer.
func (k *keeper) find(r *durable.Run, id string) (row, error) {
	for {
		s, err := k.store.get(r.Context(), id)
		if err == nil || errors.Is(err, errGone) {
			return s, err
		}
		if err := sleep(r.Context(), again); err != nil {
			return row{}, err
		}
	}
}

// persist notes how a run has ended; it waits for a database that does not answer.
func (k *keeper) persist(ctx context.Context, id string, o outcome) error {
	for {
		if err := k.store.finish(ctx, id, o); err == nil {
			return nil
		}
		if err := sleep(ctx, again); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// pause waits before a retry: 10 s, then twice as long each time, up to 5 minutes.
func pause(ctx context.Context, n int) error {
	return sleep(ctx, min(10*time.Second<<(n-1), 5*time.Minute))
}

// admit notes that a run begins, once the earlier ones let it.
func (k *keeper) admit(ctx context.Context, s row, in input) (verdict string, err error) {
	skips := s.Spec.Overlap == "skip" && !in.Slot.IsZero()
	if !skips && !in.Before.IsZero() {
		if err := k.follow(ctx, s.ID, nameOf(in.Before)); err != nil {
			return "", err
		}
	}
	for seen := false; ; { // seen: another was there at the last look
		ended := k.ends()
		o := outcome{Run: in.Run, Slot: in.Slot, State: running, Missed: in.Missed}
		other, ahead, err := k.store.admit(ctx, s.ID, o, !skips && !seen, k.deps.Now)
		switch {
		case errors.Is(err, errGone):
			return "", err
		case errors.Is(err, errFull), err == nil && ahead > 0 && skips && seen:
			o.Started = k.deps.Now()
			o.State, o.Ended, o.Note = skipped, o.Started, "an earlier run had not ended: "+other.Run
			if err != nil {
				o.Note = err.Error()
			}
			if err = k.store.record(ctx, s.ID, o); err == nil {
				return skipped, nil
			}
		case err == nil && ahead == 0:
			return running, nil
		case err == nil:
			if err = k.settle(ctx, s, other); err == nil && !seen {
				seen = true
				continue
			}
		}
		if err := k.await(ctx, ended, ahead); err != nil {
			return "", err
		}
	}
}

// follow waits until the run of an earlier slot, which may have begun in another process, has
// its place in the queue.
func (k *keeper) follow(ctx context.Context, id, run string) error {
	for after := 25 * time.Millisecond; ; after = min(2*after, 250*time.Millisecond) {
		noted, err := k.store.noted(ctx, id, run)
		if noted {
			return nil
		}
		if err == nil {
			info, err := k.engine.Get(ctx, kind, id+"/"+run)
			if errors.Is(err, durable.ErrNone) || err == nil && info.State != durable.Waiting && info.State != durable.Running {
				return nil // it did not run, or its schedule was deleted meanwhile
			}
		}
		if err := sleep(ctx, after); err != nil {
			return err
		}
	}
}

// await waits until as many runs have ended here as come before one, or for a time: they may
// end in other processes. The more there are, the less often it looks.
func (k *keeper) await(ctx context.Context, ended <-chan struct{}, ahead int) error {
	timer := time.NewTimer(200 * time.Millisecond * time.Duration(min(max(ahead, 1), 25)))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			return nil
		case <-ended:
			if ahead--; ahead <= 0 {
				return nil
			}
			ended = k.ends()
		}
	}
}

// ends returns what is closed when the next run ends here.
func (k *keeper) ends() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended
}

// end tells those who wait that a run has ended here.
func (k *keeper) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.ended)
	k.ended = make(chan struct{})
}

// settle notes the end of a run that has ended without noting it itself, and ends one that is
// to be replaced.
func (k *keeper) settle(ctx context.Context, s row, other outcome) error {
	info, err := k.engine.Get(ctx, kind, s.ID+"/"+other.Run)
	o := outcome{Run: other.Run, Ended: k.deps.Now(), State: unknown, Note: "it ended without a report"}
	if other.State == queued {
		o.State, o.Note = cancelled, "it ended before its turn came"
	}
	switch {
	case errors.Is(err, durable.ErrNone):
	case err != nil:
		return err
	case info.State == durable.Cancelled:
		o.State, o.Note = cancelled, "cancelled"
	case info.State == durable.Done:
	case info.State == durable.Failed:
		o.Note += ": " + k.deps.redacted(info.Err)
	case s.Spec.Overlap == "replace":
		if err := k.engine.Cancel(ctx, kind, s.ID+"/"+other.Run); err != nil {
			return err
		}
		o.State, o.Note = cancelled, "the next run took its place"
	default:
		return nil
	}
	return k.store.finish(ctx, s.ID, o)
}

// call calls the tool once and notes the result. last says that there is no retry after it.
func (k *keeper) call(ctx context.Context, s row, in input, last bool) (tools.Code, error) {
	res, err := k.deps.Caller.Later(ctx, tools.LaterCall{
		CallSpec: tools.CallSpec{Name: s.Spec.Tool, Args: s.Spec.Args},
		Session: tools.SessionInfo{
			Principal: s.Principal, Workspace: k.ws,
			Client: tools.Client{Name: "schedule " + s.Name},
		},
		Consented: s.Spec.Consented,
	})
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	o := outcome{Run: in.Run, Ended: k.deps.Now(), State: ok, Result: k.deps.redacted(textOf(res))}
	if exit, ran := res.Meta[tools.MetaExit].(int); ran && exit != 0 {
		o.State, o.Note = failed, fmt.Sprintf("exit code %d", exit)
	}
	var code tools.Code
	if err != nil {
		e := tools.AsError(err)
		if _, asks := errors.AsType[*tools.PendingAsk](err); asks {
			e = tools.Errorf(tools.Denied, "%s: it asks its user, and nobody can be asked when it runs by itself", s.Spec.Tool)
		}
		code = e.Code
		o.State, o.Note = failed, k.deps.redacted(e.Error())
	}
	if code.Retryable() && !last {
		return code, nil
	}
	return code, k.persist(ctx, s.ID, o)
}

// textOf returns the text of a result; other blocks are named.
func textOf(res tools.Result) string {
	var b strings.Builder
	for _, block := range res.Content {
		switch block.Kind {
		case tools.TextBlock:
			b.WriteString(block.Text)
		case tools.LinkBlock, tools.ResourceBlock:
			fmt.Fprintf(&b, "[%s]", block.URI)
		default:
			fmt.Fprintf(&b, "[%s, %d bytes, not kept]", block.MIME, len(block.Data))
		}
		b.WriteString("\n")
	}
	text := strings.TrimRight(b.String(), "\n")
	if len(text) > mostResult {
		text = strings.ToValidUTF8(text[:mostResult], "") + fmt.Sprintf("\n[cut: the result has %d bytes]", len(text))
	}
	return text
}

// prune lets the engine forget old runs, once an hour.
func (k *keeper) prune(ctx context.Context) {
	now := k.deps.Now()
	if before := k.pruned.Load(); now.Unix()-before < 3600 || !k.pruned.CompareAndSwap(before, now.Unix()) {
		return
	}
	if _, err := k.engine.Prune(ctx, kind, time.Now().Add(-keepRuns)); err != nil {
		k.deps.log.Warn("old runs of schedules stay", "err", err)
	}
}
