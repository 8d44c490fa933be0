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

// logEnd is how far the log went when it was written last. It lies beside the log in a
// file of its own, so that a log that is shorter by now is told to be: records that a
// kill has torn never counted.
type logEnd struct {
	Mark
	Gap *Gap `json:"gap,omitempty"` // the last that was noticed
}

// Gap is a part of the History that is missing: its log was cut or removed.
type Gap struct {
	After   time.Time `json:"after,omitzero"` // of the newest change that was left; zero: none was
	Noticed time.Time `json:"noticed"`
}

const (
	endName = "end"
	// endSize is how long the file is: it is written over at once, so that no kill
	// leaves half of it.
	endSize = 256
)

// readEnd returns the end as it was noted last; the zero value where it never was. One
// that a loss of power has torn is as good as none.
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

// mend compares the log with its end as it was noted, and returns it as it is now, with
// a gap where records are missing. The caller holds the lock.
func (h *History) mend() (end logEnd, err error) {
	noted, err := h.readEnd()
	if err != nil {
		return end, err
	}
	if end.Mark, err = h.standing(); err != nil {
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

// cutBelow reports whether records are missing of a log that was noted to go as far as
// noted. One that begins otherwise was pruned, or is about to be.
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

// markOf is where a log ends that is the part of another: what replaceLog makes.
func markOf(part *io.SectionReader) (Mark, error) {
	first := make([]byte, len(recordStart(NewID())))
	if part.Size() < int64(len(first)) {
		return Mark{}, nil
	}
	_, err := part.ReadAt(first, 0)
	return Mark{string(first), part.Size()}, err
}

// Gap returns what is known to be missing of the History; nil where nothing is.
func (h *History) Gap(ctx context.Context) (*Gap, error) {
	var end logEnd
	err := h.locked(ctx, func() (err error) {
		end, err = h.mend()
		return err
	})
	return end.Gap, err
}
