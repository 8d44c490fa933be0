package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is that of a record that the log writes itself.
type kind string

const (
	kindOpen      kind = "open"      // first of a file
	kindClose     kind = "close"     // last of a full file
	kindRemoved   kind = "removed"   // the oldest file was full long ago and goes
	kindRecovered kind = "recovered" // a process was killed while it wrote: the torn end was cut
	kindMissing   kind = "missing"   // records that the head knows were not found, or not as they were
	kindLost      kind = "lost"      // records of calls without effects could not be written
)

// own is a record that the log writes itself. Its field "log" comes first, which
// no other record has.
type own struct {
	Kind kind      `json:"log"`
	Time time.Time `json:"time"`
	File string    `json:"file,omitempty"` // that has the record, or that it is about
	// Of open: the end of the file before.
	Previous string `json:"previous,omitempty"`
	LastSeq  uint64 `json:"previous_seq,omitempty"`
	LastHash *sum   `json:"previous_hash,omitempty"`
	// Of close: the file that follows, and the number of its first record.
	Next    string `json:"next,omitempty"`
	NextSeq uint64 `json:"next_seq,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"` // of recovered: that were cut
	Digest  string `json:"digest,omitempty"`
	Count   int    `json:"count,omitempty"` // of lost
	Why     string `json:"why,omitempty"`   // of missing
}

const ownMark = `{"log":`

func (o own) record() []byte {
	data, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("audit record %s: %v", o.Kind, err)) // it has no field that cannot be written
	}
	return data
}

// asOwn returns the record of an entry where the log wrote it itself.
func (e entry) asOwn() (o own, ok bool) {
	_, rest, _ := strings.Cut(string(e.record[:min(len(e.record), 64)]), ",")
	if !strings.HasPrefix(rest, ownMark[1:]) {
		return own{}, false
	}
	return o, json.Unmarshal(append(slices.Clip(e.record), '}'), &o) == nil
}

// Files of a log are numbered from 1.
const filePrefix, fileSuffix = "audit-", ".jsonl"

func fileName(n int) string { return fmt.Sprintf("%s%08d%s", filePrefix, n, fileSuffix) }

// fileNumber is the reverse of fileName; 0 = it is no file of a log.
func fileNumber(name string) int {
	digits, ok := strings.CutSuffix(strings.TrimPrefix(name, filePrefix), fileSuffix)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || fileName(n) != name {
		return 0
	}
	return n
}

// listFiles returns the numbers of the files in dir, in order. A directory that
// does not exist has none.
func listFiles(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		if n := fileNumber(e.Name()); n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func pathOf(dir string, n int) string { return filepath.Join(dir, fileName(n)) }
