package workspace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/state"
)

// journal is where this process tells beforehand what it is about to do, so that
// another can finish or undo it. The file belongs to the process and is gone with
// its last entry; it is the same for all roots.
type journal struct {
	open func() (*state.Dir, error)

	mu    sync.Mutex
	file  *state.Owned
	under map[string]bool // changes that have begun and not ended
	size  int
}

// journalFolder is the folder of the shared state that holds the journals.
const journalFolder = "journal"

// resetSize is how large the file may grow before it is emptied when no change is
// under way.
const resetSize = 64 << 10

// intent is the entry that begins a change: before anything is made.
type intent struct {
	Change string `json:"change"`
	Record Record `json:"record"`
	// Root is the canonical name of the root in whose history the change is, whatever
	// roots the next start has; Home is a canonical host path below it.
	Root string       `json:"root"`
	Home string       `json:"home"`
	Log  history.Mark `json:"log"` // where the log of that history ended
	// Temps and Dirs are what the change makes for itself and on the way, by their
	// canonical host paths.
	Temps []string `json:"temps,omitempty"`
	Dirs  []string `json:"dirs,omitempty"`
}

// journalLine is one line of a journal: one of its parts. In the file, names that are
// not UTF-8 are packed.
type journalLine struct {
	Begin  *intent `json:"begin,omitempty"`
	Change string  `json:"change,omitempty"` // of all but Begin
	Acts   []*act  `json:"acts,omitempty"`
	End    bool    `json:"end,omitempty"`
	// Committed says that the change has happened, and only its temporary entries are
	// left.
	Committed bool `json:"committed,omitempty"`
}

// mapNames returns a copy with f(name) in the place of each name.
func (l journalLine) mapNames(f func(string) string) journalLine {
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

func (j *journal) begin(i intent) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		d, err := j.open()
		if err != nil {
			return err
		}
		if j.file, err = d.Own(journalFolder); err != nil {
			return err
		}
		j.under = map[string]bool{}
	}
	if err := j.write(journalLine{Begin: &i}); err != nil {
		return err
	}
	j.under[i.Change] = true
	return nil
}

// acts tells what will be done to the disk; sync makes it survive a loss of power.
func (j *journal) acts(change string, acts []*act, sync bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.write(journalLine{Change: change, Acts: acts}); err != nil || !sync {
		return err
	}
	return j.file.Sync()
}

// committed says that a change has happened, whatever the history knows later.
func (j *journal) committed(change string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(journalLine{Change: change, Committed: true})
}

// end says that nothing is left to do of a change.
func (j *journal) end(change string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.under, change)
	if len(j.under) == 0 && j.size > resetSize {
		j.size = 0
		return j.file.Reset()
	}
	return j.write(journalLine{Change: change, End: true})
}

// endLine is the line that ends a change, for a journal whose last line may be torn.
func endLine(change string) []byte {
	data, _ := json.Marshal(journalLine{Change: change, End: true}) //nolint:errchkjson // strings and a bool
	return fmt.Appendf(nil, "\n%s\n", data)
}

func (j *journal) write(line journalLine) error {
	data, err := json.Marshal(line.mapNames(history.PackName))
	if err != nil {
		return err
	}
	j.size += len(data)
	return j.file.Append(append(data, '\n'))
}

// close removes the file, unless a change could not be ended.
func (j *journal) close() error {
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
	intent
	acts      []*act
	committed bool
}

// names are the paths that the change had locked.
func (u *unfinished) names() []string {
	var names []string
	for _, a := range u.acts {
		names = append(names, a.From, a.To)
	}
	return names
}

// parseJournal returns the changes that a journal does not see ended, the last
// first. A torn last line was written by a process that died before it did what the
// line tells.
func parseJournal(data []byte) []*unfinished {
	var list []*unfinished
	for line := range bytes.Lines(data) {
		var l journalLine
		if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &l) != nil {
			continue
		}
		l = l.mapNames(history.UnpackName)
		if l.Begin != nil {
			list = append(list, &unfinished{intent: *l.Begin})
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
