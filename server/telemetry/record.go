package telemetry

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/server/counts"
	"toolcrib/workspace/state"
)

// Records are small files below the state directory that all servers of a user
// share. Each holds what one server counted in a time of about an hour and is
// written again while the server works, so that a sum over a time is a sum over
// files, whichever servers still run; of a server that was killed the last seconds
// are lost.
const (
	recordFolder = "stats"
	recordFormat = 1 // changes with the bounds of the buckets too
	recordEvery  = 10 * time.Second
	recordSpan   = time.Hour
	recordKept   = 30 * 24 * time.Hour
	maxRecords   = 2000
)

// record is the content of a file.
type record struct {
	Format  int                         `json:"format"`
	Server  string                      `json:"server"` // tells servers apart
	Version string                      `json:"version"`
	Roots   []string                    `json:"roots"`
	Since   time.Time                   `json:"since"`
	Until   time.Time                   `json:"until"`
	Tools   map[string]counts.ToolStats `json:"tools"`
}

// Recorder writes the records of a server.
type Recorder struct {
	base    string
	log     *slog.Logger
	sources Sources
	folder  *os.Root // nil before the first record
	name    string   // of the record that is being written
	record  record
	before  counts.Stats // at its beginning
	written uint64       // calls in it

	once sync.Once
	stop chan struct{}
	done sync.WaitGroup
}

// Record begins to write records below base, a directory for the states of all
// roots. A server that nobody calls writes none. Close ends it.
func Record(base string, roots []string, s Sources, log *slog.Logger) *Recorder {
	r := &Recorder{base: base, log: log, sources: s, stop: make(chan struct{})}
	r.record = record{Format: recordFormat, Server: rand.Text(), Version: s.Version, Roots: roots}
	r.begin(s.Started, s.Stats())
	r.done.Go(r.work)
	return r
}

// begin begins a record.
func (r *Recorder) begin(since time.Time, before counts.Stats) {
	r.name, r.record.Since, r.before, r.written = rand.Text()+".json", since, before, 0
}

func (r *Recorder) work() {
	tick := time.NewTicker(recordEvery)
	defer tick.Stop()
	for last := false; !last; {
		select {
		case <-tick.C:
		case <-r.stop:
			last = true
		}
		if err := r.write(time.Now()); err != nil {
			r.log.Warn("calls cannot be recorded for toolcrib stats", "err", err)
			return
		}
	}
}

// write writes the record if there is something new in it.
func (r *Recorder) write(now time.Time) error {
	stats := r.sources.Stats()
	counted, calls := since(stats, r.before)
	if calls > r.written {
		r.record.Until, r.record.Tools, r.written = now, counted, calls
		if err := r.save(now); err != nil {
			return err
		}
	}
	if r.written == 0 || now.Sub(r.record.Since) >= recordSpan {
		r.begin(now, stats)
	}
	return nil
}

// since returns the counts between two snapshots, of the tools that were called.
func since(stats, before counts.Stats) (counted map[string]counts.ToolStats, calls uint64) {
	counted = map[string]counts.ToolStats{}
	for name, t := range stats.Tools {
		if t = t.Minus(before.Tools[name]); t.Calls > 0 {
			counted[name], calls = t, calls+t.Calls
		}
	}
	return counted, calls
}

// save atomically replaces the record's file.
func (r *Recorder) save(now time.Time) error {
	if r.folder == nil {
		dir, err := state.Shared(r.base, r.record.Roots...)
		if err != nil {
			return err
		}
		folder, err := dir.Folder(recordFolder)
		if err := errors.Join(err, dir.Close()); err != nil {
			return err
		}
		r.folder = folder
		r.sweep(now)
	}
	data, err := json.Marshal(r.record)
	if err != nil {
		return err
	}
	if err := r.folder.WriteFile(r.name+".new", data, 0o600); err != nil {
		return errors.Join(err, ignoreMissing(r.folder.Remove(r.name+".new")))
	}
	return r.folder.Rename(r.name+".new", r.name)
}

// sweep removes records that are old, and the oldest of too many. What cannot be
// removed the next server tries again.
func (r *Recorder) sweep(now time.Time) {
	files := recordFiles(r.folder)
	for i, f := range files {
		if i >= maxRecords || now.Sub(f.changed) > recordKept {
			_ = r.folder.Remove(f.name)
		}
	}
}

// Close writes the last record.
func (r *Recorder) Close() error {
	var err error
	r.once.Do(func() {
		close(r.stop)
		r.done.Wait()
		if r.folder != nil {
			err = r.folder.Close()
		}
	})
	return err
}

type recordFile struct {
	name    string
	changed time.Time
}

// recordFiles lists the files of a folder, the newest first; what cannot be looked
// at has gone.
func recordFiles(folder *os.Root) []recordFile {
	entries, _ := fs.ReadDir(folder.FS(), ".")
	var files []recordFile
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.Contains(e.Name(), ".json") {
			files = append(files, recordFile{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b recordFile) int {
		return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(a.name, b.name))
	})
	return files
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// add adds the counts of a record to a sum.
func (r record) add(sum map[string]counts.ToolStats) {
	for name, t := range r.Tools {
		sum[name] = sum[name].Plus(t)
	}
}
