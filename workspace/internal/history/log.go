package history

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"toolcrib/workspace/fileclock"
)

const logName = "log"

// Append adds a record to the log; once it returns nil, the change has happened. The line
// is one write. Append cuts off a line that a killed process or an error has torn.
func (h *History) Append(ctx context.Context, rec Record) error {
	line, err := encodeRecord(rec)
	if err != nil {
		return err
	}
	err = h.locked(ctx, func() (err error) {
		end, err := h.mend()
		if err != nil {
			return err
		}
		f, err := h.Folder.OpenFile(logName, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		size, err := cutTorn(f)
		if err != nil {
			return err
		}
		if _, err := f.Write(line); err != nil {
			return errors.Join(err, f.Truncate(size))
		}
		if size == 0 {
			end.First = string(line[:len(recordStart(rec.ID))])
		}
		end.Size = size + int64(len(line))
		_ = h.noteEnd(end) // the change has happened, and a log may be longer than noted
		return nil
	})
	if err != nil {
		return err
	}
	h.count(0, 1)
	if slices.ContainsFunc(rec.Files, Changed.CopiedTree) {
		fileclock.Pass(rec.Time)
	}
	return nil
}

// cutTorn cuts off a torn line, and returns the size of the rest.
func cutTorn(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return info.Size(), err
	}
	size, err := wholeLines(f, info.Size())
	if err != nil {
		return 0, err
	}
	return size, f.Truncate(size)
}

// Has reports whether the log has the record of that ID. It looks from the end.
func (h *History) Has(id string) (bool, error) {
	start := recordStart(id)
	for line, err := range h.Lines() {
		if err != nil {
			return false, err
		}
		if bytes.HasPrefix(line.Text, start) {
			return true, nil
		}
	}
	return false, nil
}

// Mark is the end of the log at a time.
type Mark struct {
	First string `json:"first,omitempty"` // the beginning of the log: pruning cuts there
	Size  int64  `json:"size,omitempty"`
}

// Mark returns the end of the log; the zero value if it cannot be read.
func (h *History) Mark() Mark {
	m, err := h.readMark()
	if err != nil {
		return Mark{}
	}
	return m
}

// readMark is Mark with its error; a log without a record has the zero value.
func (h *History) readMark() (Mark, error) {
	f, err := h.Folder.Open(logName)
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{}, nil
	}
	if err != nil {
		return Mark{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Mark{}, err
	}
	size, err := wholeLines(f, info.Size()) // the next append cuts off a torn line
	if err != nil {
		return Mark{}, err
	}
	return markOf(io.NewSectionReader(f, 0, size))
}

// HasSince is Has for a record that can only have been appended after mark. It does not
// read older records, as long as the log has only grown.
func (h *History) HasSince(id string, mark Mark) (bool, error) {
	if mark.First == "" || h.Mark().First != mark.First {
		return h.Has(id)
	}
	start := recordStart(id)
	for line, err := range h.Lines() {
		if err != nil {
			return false, err
		}
		if line.at < mark.Size {
			break
		}
		if bytes.HasPrefix(line.Text, start) {
			return true, nil
		}
	}
	if h.Mark().First != mark.First { // it was pruned meanwhile
		return h.Has(id)
	}
	return false, nil
}

// Lines yields the lines of the log as it is now, the newest first.
func (h *History) Lines() iter.Seq2[logLine, error] {
	return func(yield func(logLine, error) bool) {
		f, err := h.Folder.Open(logName)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(logLine{}, err)
			return
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			yield(logLine{}, err)
			return
		}
		for line, err := range linesBackward(f, info.Size()) {
			if !yield(line, err) {
				return
			}
		}
	}
}

// logLine is a line of the log, without its end.
type logLine struct {
	at   int64 // where it begins
	Text []byte
}

// linesBackward yields the lines of the first size bytes of f from the last to the first,
// without a torn one at the end. A text is valid until the next.
func linesBackward(f io.ReaderAt, size int64) iter.Seq2[logLine, error] {
	return func(yield func(logLine, error) bool) {
		end, err := wholeLines(f, size)
		if err != nil {
			yield(logLine{}, err)
			return
		}
		var (
			buf  []byte // holds [from, end) of f
			from = end  // of the file
			step = int64(64 << 10)
		)
		for end > 0 {
			// The line ends at end-1; it begins after the line end before that.
			if i := bytes.LastIndexByte(buf[:max(len(buf)-1, 0)], '\n'); i >= 0 || from == 0 && len(buf) > 0 {
				if !yield(logLine{from + int64(i) + 1, buf[i+1 : len(buf)-1]}, nil) {
					return
				}
				buf = buf[:i+1]
				end = from + int64(i) + 1
				continue
			}
			more := min(max(step, int64(len(buf))), from)
			grown := make([]byte, more+int64(len(buf)))
			if _, err := f.ReadAt(grown[:more], from-more); err != nil {
				yield(logLine{}, err)
				return
			}
			copy(grown[more:], buf)
			buf, from = grown, from-more
		}
	}
}

// wholeLines returns how many of the first size bytes of f are whole lines. A torn
// end may be cut off meanwhile.
func wholeLines(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 4<<10)
	for size > 0 {
		at := max(size-int64(len(buf)), 0)
		n, err := f.ReadAt(buf[:size-at], at)
		if err != nil && err != io.EOF {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		size = at
	}
	return 0, nil
}

// Sync makes the log survive a loss of power.
func (h *History) Sync() error {
	f, err := h.Folder.OpenFile(logName, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
