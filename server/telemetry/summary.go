package telemetry

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"toolcrib/server/counts"
	"toolcrib/workspace/state"
)

// maxRecord is the most bytes of a record that are read.
const maxRecord = 1 << 20

// Summary is the sum of records.
type Summary struct {
	Tools   map[string]counts.ToolStats // by name, as in [counts.Stats]
	Servers int                         // that counted something
	Unread  int                         // records that another version has written, or nobody
}

// Summarize sums up the records below the directories for states that were written
// after since, of the servers that have one of dirs among their roots; without dirs,
// of all.
func Summarize(bases []string, since time.Time, dirs []string) (Summary, error) {
	sum := Summary{Tools: map[string]counts.ToolStats{}}
	servers := map[string]bool{}
	for _, base := range bases {
		if !state.HasShared(base) {
			continue
		}
		dir, err := state.Shared(base)
		if err != nil {
			return Summary{}, err
		}
		folder, err := dir.Folder(recordFolder)
		_ = dir.Close() // it has no database open
		if err != nil {
			return Summary{}, err
		}
		for _, f := range recordFiles(folder) {
			if f.changed.Before(since) {
				break // all others are older
			}
			if !strings.HasSuffix(f.name, ".json") {
				continue // is being written
			}
			r, ok := readRecord(folder, f.name)
			switch {
			case !ok:
				sum.Unread++
			case len(dirs) == 0 || slices.ContainsFunc(dirs, func(dir string) bool { return slices.Contains(r.Roots, dir) }):
				servers[r.Server] = true
				r.add(sum.Tools)
			}
		}
		_ = folder.Close() // it was read
	}
	sum.Servers = len(servers)
	return sum, nil
}

// readRecord returns false for a file that holds no record of this format. One that
// has gone meanwhile counts as such.
func readRecord(folder *os.Root, name string) (record, bool) {
	f, err := folder.Open(name)
	if err != nil {
		return record{}, false
	}
	defer f.Close()
	var r record
	err = json.NewDecoder(io.LimitReader(f, maxRecord)).Decode(&r)
	return r, err == nil && r.Format == recordFormat
}

// Total returns the sum over all tools.
func (s Summary) Total() counts.ToolStats {
	var total counts.ToolStats
	for _, t := range s.Tools {
		total = total.Plus(t)
	}
	return total
}
