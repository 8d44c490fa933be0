package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// logEnd is the length of the log after the last append. It is in a file of its own next to
// the log, so that a log that has lost records since is noticed. A record that a kill has
// torn never counted.
type logEnd struct {
	Mark
	Gap *Gap `json:"gap,omitempty"` // the last that was noticed
}

// Gap is a part of the history that is missing: its log was cut or removed.
type Gap struct {
	After   time.Time `json:"after,omitzero"` // of the newest change that is left; zero if none is
	Noticed time.Time `json:"noticed"`
}

const (
	endName = "end"
	// endSize is the length of the file in bytes. One write replaces all of it, so that no
	// kill leaves half of it.
	endSize = 256
)

// readEnd returns the end that was noted last; the zero value if none was, or if a loss of
// power has torn it.
func (h *History) readEnd() (end logEnd, err error) {
	text, err := h.Folder.ReadFile(endName)
	if errors.Is(err, fs.ErrNotExist) {
		return end, nil
	}
	if err == nil && json.Unmarshal(text, &end) != nil {
		end = logEnd{}
	}
	return end, err
}

func (h *History) noteEnd(end logEnd) error {
	text, err := json.Marshal(end)
	if err != nil {
		return err
	}
	if len(text) >= endSize {
		return fmt.Errorf("the end of the history takes %d bytes", len(text))
	}
	text = append(append(text, bytes.Repeat([]byte{' '}, endSize-1-len(text))...), '\n')
	f, err := h.Folder.OpenFile(endName, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	return errors.Join(err, f.Close())
}

// mend compares the log with its noted end, and returns its present end, with a gap if
// records are missing. The caller holds the lock.
func (h *History) mend() (end logEnd, err error) {
	noted, err := h.readEnd()
	if err != nil {
		return end, err
	}
	if end.Mark, err = h.readMark(); err != nil {
		return end, err
	}
	if g := noted.Gap; g != nil && time.Since(g.Noticed) < h.bounds.Age {
		end.Gap = g
	}
	cut, err := h.cutBelow(noted.Mark, end.Mark)
	if err != nil || !cut {
		return end, err
	}
	gap := &Gap{Noticed: time.Now().UTC().Truncate(time.Second)}
	for line, err := range h.Lines() {
		if err != nil {
			return end, err
		}
		if rec, err := DecodeRecord(line.Text); err == nil {
			gap.After = rec.Time
			break
		}
	}
	if old := end.Gap; old != nil && old.After.Before(gap.After) {
		gap.After = old.After
	}
	end.Gap = gap
	return end, h.noteEnd(end)
}

// cutBelow reports whether a log has lost records since its end was noted. A log with
// another beginning was pruned, or is about to be.
func (h *History) cutBelow(noted, now Mark) (bool, error) {
	switch {
	case noted.First == "":
		return false, nil
	case now.First == "":
		return true, nil
	case now.First == noted.First:
		return now.Size < noted.Size, nil
	}
	for line, err := range h.Lines() {
		if err != nil {
			return false, err
		}
		if bytes.HasPrefix(line.Text, []byte(noted.First)) {
			return false, nil
		}
	}
	return true, nil
}

// markOf returns the mark of a log that is to have this part of the present one.
func markOf(part *io.SectionReader) (Mark, error) {
	first := make([]byte, len(recordStart(NewID())))
	if part.Size() < int64(len(first)) {
		return Mark{}, nil
	}
	_, err := part.ReadAt(first, 0)
	return Mark{string(first), part.Size()}, err
}

// Gap returns the known gap in the history; nil for none.
func (h *History) Gap(ctx context.Context) (*Gap, error) {
	var end logEnd
	err := h.locked(ctx, func() (err error) {
		end, err = h.mend()
		return err
	})
	return end.Gap, err
}
