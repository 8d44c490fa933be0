package audit

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"toolcrib/workspace/state"
)

// Problem is one thing that is wrong with a log.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // 0 = it is the file as a whole
	Seq  uint64 `json:"seq,omitempty"`  // of the record, as far as it is known
	What string `json:"what"`
}

func (p Problem) String() string {
	where := p.File
	if p.Line > 0 {
		where += fmt.Sprintf(":%d", p.Line)
	}
	return where + ": " + p.What
}

// Report is what Verify found.
type Report struct {
	Files    int       `json:"files"`
	Records  uint64    `json:"records"` // that are as they were written
	First    uint64    `json:"first"`   // number of the first record that is kept
	Last     uint64    `json:"last"`
	Hash     string    `json:"hash"` // of the last record; noted elsewhere, it can prove later that the log had these records
	Problems []Problem `json:"problems"`
	More     int       `json:"more_problems,omitempty"` // beyond those that are listed
	Notes    []string  `json:"notes,omitempty"`         // what happened and is no tampering
}

const maxProblems = 100

// Verify reads the log in dir and compares it with the state. It may be called while
// processes write. It returns an error only if it could not read them; it is [ErrNoLog] if
// neither the state nor dir has any trace of a log.
func Verify(ctx context.Context, dir string, st *state.Dir) (Report, error) {
	s, err := takeSnapshot(ctx, dir, st)
	if err != nil {
		return Report{}, err
	}
	defer s.close()
	if s.gone != nil {
		return Report{Problems: []Problem{{File: dir, What: s.gone.gone()}}}, nil
	}
	v := &verifier{snapshot: s, prev: s.chain.root(s.head.Log)}
	if s.lost {
		v.problem("the head in the state directory", 0, 0, "it was removed or emptied: records may be missing at either end")
	}
	for i, f := range s.files {
		if err := ctx.Err(); err != nil {
			return Report{}, err
		}
		data, err := io.ReadAll(io.NewSectionReader(f.f, 0, f.size))
		if err != nil {
			return Report{}, err
		}
		v.file(i, f.number, data)
	}
	v.end()
	return v.report, nil
}

// verifier goes through the records in order. After a record that is not as it was
// written, it goes on with the hash that this record states: the problem is told,
// and the others are still found.
type verifier struct {
	*snapshot
	report Report
	prev   sum
	seq    uint64 // of the last record
	headed bool   // the record that the head names was found
}

func (v *verifier) problem(file string, line int, seq uint64, format string, args ...any) {
	if len(v.report.Problems) == maxProblems {
		v.report.More++
		return
	}
	v.report.Problems = append(v.report.Problems, Problem{file, line, seq, fmt.Sprintf(format, args...)})
}

func (v *verifier) note(format string, args ...any) {
	v.report.Notes = append(v.report.Notes, fmt.Sprintf(format, args...))
}

func (v *verifier) file(i, number int, data []byte) {
	name := fileName(number)
	v.report.Files++
	if i == 0 && number != v.head.Oldest {
		v.problem(fileName(v.head.Oldest), 0, 0, "the file was removed")
	}
	lines := bytes.SplitAfter(data, []byte{'\n'})
	lines = lines[:len(lines)-1+min(1, len(lines[len(lines)-1]))] // the last is what follows the last line feed
	v.opening(i, name, lines)
	for n, line := range lines {
		if line[len(line)-1] != '\n' && v.seq >= v.head.Seq && i == len(v.files)-1 {
			v.note("%s ends in %d bytes of a record that is being written or never was: the next record cuts them", name, len(line))
			break
		}
		v.line(name, n, line, lines)
	}
}

// opening looks where a file says that it begins.
func (v *verifier) opening(i int, name string, lines [][]byte) {
	if len(lines) == 0 {
		if i < len(v.files)-1 || v.files[i].number <= v.head.File {
			v.problem(name, 0, 0, "the file was emptied")
		}
		return
	}
	e, ok := parse(lines[0])
	if !ok {
		return // its line tells
	}
	o, ok := e.asOwn()
	if !ok || o.Kind != kindOpen || o.LastHash == nil || !v.chain.follows(e, *o.LastHash, o.LastSeq) {
		v.problem(name, 1, e.seq, "the file does not begin with its first record")
		return
	}
	if o.File != name {
		v.problem(name, 1, e.seq, "this is %s, exchanged or copied", o.File)
	}
	first := i == 0 && (v.lost || v.head.Oldest > 1)
	switch {
	case first && v.files[0].number == v.head.Oldest, o.LastSeq == v.seq && *o.LastHash == v.prev:
	case o.LastSeq > v.seq:
		v.problem(name, 1, e.seq, "records %d to %d before this file are missing", v.seq+1, o.LastSeq)
	default:
		v.problem(name, 1, e.seq, "this file does not follow the one before it, whose last record is %d", v.seq)
		return
	}
	v.seq, v.prev = o.LastSeq, *o.LastHash
	if v.report.First == 0 {
		v.report.First = e.seq
	}
}

// line checks one record and adds a problem if it does not continue the chain.
func (v *verifier) line(file string, n int, line []byte, all [][]byte) {
	e, ok := parse(line)
	if ok && v.chain.follows(e, v.prev, v.seq) {
		v.accept(file, n, e)
		return
	}
	switch {
	case !ok && v.fits(all, n+1, v.prev, v.seq):
		v.problem(file, n+1, 0, "a line was inserted")
		return
	case !ok:
		v.problem(file, n+1, v.seq+1, "record %d was changed", v.seq+1)
		v.seq++
		return
	case e.seq == v.seq+1:
		v.problem(file, n+1, e.seq, "record %d was changed", e.seq)
	case e.seq > v.seq+1 && elsewhere(all, v.seq+1):
		v.problem(file, n+1, e.seq, "record %d is in the position of %d: they were reordered", e.seq, v.seq+1)
	case e.seq > v.seq+1:
		v.problem(file, n+1, v.seq+1, "records %d to %d are missing before this one", v.seq+1, e.seq-1)
	case v.fits(all, n+1, v.prev, v.seq):
		v.problem(file, n+1, e.seq, "record %d was inserted once more", e.seq)
		return
	default:
		v.problem(file, n+1, e.seq, "record %d comes after %d: they were reordered", e.seq, v.seq)
	}
	computed := v.chain.next(v.prev, e.record)
	if v.seq = e.seq; v.fits(all, n+1, computed, e.seq) {
		v.prev = computed // only the hash was changed
	} else {
		v.prev = e.stated
	}
}

// fits reports whether the line n of a file is the one after a record.
func (v *verifier) fits(lines [][]byte, n int, prev sum, seq uint64) bool {
	if n >= len(lines) {
		return false
	}
	e, ok := parse(lines[n])
	return ok && v.chain.follows(e, prev, seq)
}

// elsewhere reports whether a file has a record of that number.
func elsewhere(lines [][]byte, seq uint64) bool {
	for _, line := range lines {
		if e, ok := parse(line); ok && e.seq == seq {
			return true
		}
	}
	return false
}

// accept counts a record that is as it was written.
func (v *verifier) accept(file string, n int, e entry) {
	v.seq, v.prev = e.seq, e.stated
	v.report.Records++
	if v.seq == v.head.Seq {
		v.headed = v.prev == v.head.Hash
	}
	o, mine := e.asOwn()
	if !mine {
		return
	}
	at := o.Time.UTC().Format("2006-01-02 15:04:05Z")
	switch o.Kind {
	case kindMissing:
		v.problem(file, n+1, e.seq, "found at %s: %s; records after %d may be missing", at, o.Why, e.seq-2)
	case kindRecovered:
		v.note("%s: a process was killed while it wrote: %d bytes of a torn record were cut from %s", at, o.Bytes, o.File)
	case kindLost:
		v.note("%s: %d records of calls without effects could not be written", at, o.Count)
	case kindOpen, kindClose, kindRemoved:
	}
}

// end compares the end of the log with the head.
func (v *verifier) end() {
	v.report.Last, v.report.Hash = v.seq, v.prev.String()
	file := fileName(max(v.head.File, 1))
	switch {
	case len(v.files) == 0 && v.head.File > 0:
		v.problem(fileName(v.head.Oldest), 0, 0, "all files were removed; there were records up to %d", v.head.Seq)
	case v.seq < v.head.Seq:
		v.problem(file, 0, v.seq+1, "records %d to %d are missing at the end", v.seq+1, v.head.Seq)
	case !v.headed && v.head.Seq > 0:
		v.problem(file, 0, v.head.Seq, "record %d is not the one that the state knows", v.head.Seq)
	}
}
