package workspace

import "time"

// Getenv sets where the user's global ignore file is looked for, as in WalkOptions.
func (o TableOptions) Getenv(getenv func(string) string) TableOptions {
	o.hooks.getenv = getenv
	return o
}

// FailWatch has what answers an error not be watched.
func (o TableOptions) FailWatch(fail func() error) TableOptions {
	o.hooks.addWatch = fail
	return o
}

// LoseEvents has the table believe, where lose answers true, that an event tells of lost
// ones only.
func (o TableOptions) LoseEvents(lose func() bool) TableOptions {
	o.hooks.event = func(e event) event {
		if lose() {
			return eventLost
		}
		return e
	}
	return o
}

// FillLog has a table see as many changes as it remembers, of a directory that has left it.
func FillLog(t *Table) {
	gone := &tableDir{gone: true}
	for range maxLog {
		t.generation++
		t.log.add(t.generation, gone, 0)
	}
}

// SetFresh says of all that is in a table whether it may change without a sign.
func SetFresh(t *Table, fresh bool) {
	set := func(stamps []stamp) {
		for i := range stamps {
			stamps[i].fresh = fresh
		}
	}
	set(t.outer.stamps)
	t.top.each(func(d *tableDir) {
		d.fresh = fresh
		if d.rules != nil {
			set(d.rules.stamps)
		}
		for i := range d.entries {
			d.entries[i].fresh = fresh
		}
	})
}

// FreshStamp tells whether a file may change without a sign whose times are so many
// nanoseconds after now.
func FreshStamp(modified, changed int64) bool {
	now := time.Now()
	return newStamp(identity64{modified: now.UnixNano() + modified, changed: now.UnixNano() + changed}, 1, now).fresh
}
