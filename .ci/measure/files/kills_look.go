package files

import (
	"maps"
	"os"
	"path/filepath"
)

// look compares the tree of a worker with what was acknowledged, and with what the
// call would have made of it that was under way.
func (w *killedWorker) look(base string, tally *killedTally) error {
	dir := filepath.Join(base, w.top)
	got, strays, err := readKilled(dir)
	if err != nil {
		return err
	}
	pending := w.pending
	w.pending, w.killed = nil, true
	tally.mu.Lock()
	defer tally.mu.Unlock()
	if len(strays) > 0 {
		tally.strays += len(strays)
		tally.sample("%s: strays %q", dir, strays)
		for _, name := range strays { // so that they are not counted again
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	switch {
	case maps.Equal(got, w.tree):
		if pending != nil {
			tally.undone++
		}
		return nil
	case pending != nil && maps.Equal(got, pending.after):
		tally.done++
		w.take(pending)
		return nil
	}
	err = w.judge(dir, got, pending, tally)
	w.tree, w.last = got, nil
	return err
}

// judge counts what is wrong with a tree. What is there though nobody has asked for
// it, or in a wrong mixture, is half of a change.
func (w *killedWorker) judge(dir string, got killedTree, pending *killedStep, tally *killedTally) error {
	after, what := w.tree, "nothing"
	if pending != nil {
		after, what = pending.after, pending.call.Tool
	}
	before := tally.torn + tally.missing
	torn := map[string]bool{}
	for name, text := range got {
		if !isWhole(text) {
			tally.torn++
			torn[name] = true
			tally.sample("%s/%s is torn after %s: %d bytes", w.top, name, what, len(text))
			delete(got, name) // no step can start from it
			if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	for name := range w.tree {
		_, wanted := after[name]
		if _, there := got[name]; wanted && !there && !torn[name] {
			tally.missing++
			tally.sample("%s/%s is missing after %s", w.top, name, what)
		}
	}
	if tally.torn+tally.missing > before {
		return nil
	}
	tally.half++
	for name := range w.tree {
		if got[name] != w.tree[name] && got[name] != after[name] {
			tally.sample("%s/%s is neither old nor new after %s", w.top, name, what)
		}
	}
	for name := range got {
		if w.tree[name] == "" && after[name] == "" {
			tally.sample("%s/%s is there after %s", w.top, name, what)
		}
	}
	tally.sample("%s: %d files, %d before, %d after the call %s", w.top, len(got), len(w.tree), len(after), what)
	return nil
}
