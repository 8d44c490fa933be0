package run

import (
	"toolcrib/server/rules"
	"toolcrib/tools"
)

// Settings are the part of a Runner's configuration that can change while it works, see
// [Runner.Reconfigure]. The zero value works, without tools.
type Settings struct {
	Tools    []tools.Tool
	Selected tools.Selected // of which Tools are those that can be called
	ReadOnly bool
	// AllowProtected lets tools write to protected paths, see package protect.
	AllowProtected bool
	Confirm        Confirm    // "" = ConfirmAsk
	Rules          *rules.Set // of the configuration; nil = none
	Hooks          Hooks      // of this process and of the configuration
	// AuditFailure is for calls with effects; "" = AuditDeny.
	AuditFailure AuditFailure
}

// Confirm decides what happens to a verdict of ask.
type Confirm string

// The values of Confirm.
const (
	ConfirmAsk    Confirm = "ask"    // ask by a form; deny, with the way out, if the client shows none
	ConfirmClient Confirm = "client" // send no form and trust the client's own prompt: allow
	ConfirmDeny   Confirm = "deny"   // never ask: deny
)

// live holds the Settings in use. It never changes: new settings replace it as a whole,
// and a pass keeps the one it began with, so that no pass sees a mix.
type live struct {
	Settings
	serial uint64 // counts the Settings of the Runner
	names  *tools.Names
}

// newLive prepares settings for use after the old ones, which are nil at the start. It
// returns an error if two tools share a name.
func (r *Runner) newLive(set Settings, before *live) (*live, error) {
	if set.Confirm == "" {
		set.Confirm = ConfirmAsk
	}
	names, err := tools.NameTools(set.Tools, set.Selected.Omitted...)
	if err != nil {
		return nil, err
	}
	l := &live{Settings: set, names: names}
	if before != nil {
		l.serial = before.serial + 1
	}
	var counted []string
	for _, t := range set.Tools {
		counted = append(counted, t.Name)
	}
	r.metrics.Know(counted...)
	return l, nil
}

// Reconfigure replaces the settings. Calls that begin from now on use them; calls in
// flight, and the calls that they make, keep the old ones. If two tools share a name, it
// returns an error and changes nothing.
func (r *Runner) Reconfigure(set Settings) error {
	for {
		before := r.live.Load()
		l, err := r.newLive(set, before)
		if err != nil {
			return err
		}
		if r.live.CompareAndSwap(before, l) {
			return nil
		}
	}
}
