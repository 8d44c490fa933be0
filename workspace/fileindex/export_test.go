package fileindex

import "toolcrib/workspace/internal/fsys"

// Getenv sets where the user's global ignore file is looked for, as in WalkOptions.
func (o Options) Getenv(getenv func(string) string) Options {
	o.hooks.getenv = getenv
	return o
}

// FailWatch has what answers an error not be watched.
func (o Options) FailWatch(fail func() error) Options {
	o.hooks.addWatch = fail
	return o
}

// LoseEvents has the index believe, where lose answers true, that an event tells of lost
// ones only.
func (o Options) LoseEvents(lose func() bool) Options {
	o.hooks.event = func(e fsys.Event) fsys.Event {
		if lose() {
			return fsys.EventLost
		}
		return e
	}
	return o
}

// FillLog has an index see as many changes as it remembers, of a directory that has left it.
func FillLog(t *Index) {
	gone := &directory{gone: true}
	for range maxLog {
		t.generation++
		t.log.add(t.generation, gone, 0)
	}
}

// SetFresh says of all that is in an index whether it may change without a sign.
func SetFresh(t *Index, fresh bool) {
	set := func(stamps []fsys.Stamp) {
		for i := range stamps {
			stamps[i].Fresh = fresh
		}
	}
	set(t.outer.stamps)
	t.top.each(func(d *directory) {
		d.fresh = fresh
		if d.rules != nil {
			set(d.rules.stamps)
		}
		for i := range d.entries {
			d.entries[i].fresh = fresh
		}
	})
}

// ByPath has a walk tell directories apart by their paths, as it does where the
// system has no inodes.
func ByPath(opt WalkOptions) WalkOptions {
	opt.byPath = true
	return opt
}
