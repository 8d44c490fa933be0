// Package journal records on disk the steps that a change is about to take, so that another
// process can finish or undo the change if this one is killed. An [Act] is one step, a
// [Journal] is the file that records them, and [Repair] reads the journals of dead processes.
//
// It may import workspace/state and its siblings fsys, tree and history, and nothing else of
// toolcrib: it knows roots by the interface [Roots] alone. Read act.go, journal.go and
// recover.go in this order.
package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/state"
)

// Journal records the changes of this process before they happen. It is one file for all
// roots. The process owns the file and removes it at the end if no change is unfinished.
type Journal struct {
	open func() (*state.Dir, error)

	mu    sync.Mutex
	file  *state.Owned
	under map[string]bool // changes that have begun and not ended
	size  int
}

// New returns the journal of this process. open opens the shared state, at the first change.
func New(open func() (*state.Dir, error)) *Journal { return &Journal{open: open} }

// Folder is the folder of the shared state that holds the journals.
const Folder = "journal"

// resetSize is how large the file may grow before it is emptied when no change is
// under way.
const resetSize = 64 << 10

// Intent is the entry that begins a change, before any of its files is made.
type Intent struct {
	Change string         `json:"change"`
	Record history.Record `json:"record"`
	// Root is the canonical name of the root in whose history the change is, even if the
	// next start does not serve it; Home is a canonical host path below it.
	Root string       `json:"root"`
	Home string       `json:"home"`
	Log  history.Mark `json:"log"` // the end of the log of that history
	// Temps and Dirs are the temporary entries and the directories that the change makes,
	// by their canonical host paths.
	Temps []string `json:"temps,omitempty"`
	Dirs  []string `json:"dirs,omitempty"`
}

// line is one line of a journal: one of its parts. In the file, names that are
// not UTF-8 are packed.
type line struct {
	Begin  *Intent `json:"begin,omitempty"`
	Change string  `json:"change,omitempty"` // of all but Begin
	Acts   []*Act  `json:"acts,omitempty"`
	End    bool    `json:"end,omitempty"`
	// Committed says that the change has happened, and only its temporary entries are
	// left.
	Committed bool `json:"committed,omitempty"`
}

// mapNames returns a copy in which f(name) replaces each name.
func (l line) mapNames(f func(string) string) line {
	each := func(names []string) []string {
		names = slices.Clone(names)
		for i, name := range names {
			names[i] = f(name)
		}
		return names
	}
	if l.Begin != nil {
		i := *l.Begin
		i.Root, i.Home, i.Temps, i.Dirs = f(i.Root), f(i.Home), each(i.Temps), each(i.Dirs)
		i.Record.Files = history.MapNames(i.Record.Files, f)
		l.Begin = &i
	}
	l.Acts = slices.Clone(l.Acts)
	for i, a := range l.Acts {
		b := *a
		b.From, b.To, b.Backup = f(b.From), f(b.To), f(b.Backup)
		l.Acts[i] = &b
	}
	return l
}

// Begin records that a change begins.
func (j *Journal) Begin(i Intent) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		d, err := j.open()
		if err != nil {
			return err
		}
		if j.file, err = d.Own(Folder); err != nil {
			return err
		}
		j.under = map[string]bool{}
	}
	if err := j.write(line{Begin: &i}); err != nil {
		return err
	}
	j.under[i.Change] = true
	return nil
}

// Acts records the acts of a change before the first runs. With sync the record survives a
// loss of power.
func (j *Journal) Acts(change string, acts []*Act, sync bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.write(line{Change: change, Acts: acts}); err != nil || !sync {
		return err
	}
	return j.file.Sync()
}

// Committed records that a change has happened, even if the history forgets it later.
func (j *Journal) Committed(change string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(line{Change: change, Committed: true})
}

// End records that nothing is left to do for a change.
func (j *Journal) End(change string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.under, change)
	if len(j.under) == 0 && j.size > resetSize {
		j.size = 0
		return j.file.Reset()
	}
	return j.write(line{Change: change, End: true})
}

// endLine is the line that ends a change, for a journal whose last line may be torn.
func endLine(change string) []byte {
	data, _ := json.Marshal(line{Change: change, End: true}) //nolint:errchkjson // strings and a bool
	return fmt.Appendf(nil, "\n%s\n", data)
}

func (j *Journal) write(l line) error {
	data, err := json.Marshal(l.mapNames(history.PackName))
	if err != nil {
		return err
	}
	j.size += len(data)
	return j.file.Append(append(data, '\n'))
}

// Close removes the file, unless a change could not be ended.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	if len(j.under) > 0 {
		return j.file.Abandon()
	}
	return j.file.Close()
}

// unfinished is a change of a dead process.
type unfinished struct {
	Intent
	acts      []*Act
	committed bool
}

// names returns the paths that the change had locked.
func (u *unfinished) names() []string {
	var names []string
	for _, a := range u.acts {
		names = append(names, a.From, a.To)
	}
	return names
}

// parseJournal returns the unfinished changes of a journal, the last first. It skips a torn
// last line: the process died before the steps that the line records.
func parseJournal(data []byte) []*unfinished {
	var list []*unfinished
	for text := range bytes.Lines(data) {
		var l line
		if !bytes.HasSuffix(text, []byte("\n")) || json.Unmarshal(text, &l) != nil {
			continue
		}
		l = l.mapNames(history.UnpackName)
		if l.Begin != nil {
			list = append(list, &unfinished{Intent: *l.Begin})
			continue
		}
		for i, u := range list {
			if u.Change != l.Change {
				continue
			}
			switch {
			case l.End:
				list = append(list[:i], list[i+1:]...)
			case l.Committed:
				u.committed = true
			default:
				u.acts = l.Acts
			}
			break
		}
	}
	slices.Reverse(list)
	return list
}
