package audit

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Read calls each with every line of the log in dir, oldest first, without looking
// at the hashes: see [Verify]. It ends early where each says no.
func Read(dir string, each func(line []byte) bool) error {
	dir, err := canonicalDir(dir)
	if err != nil {
		return err
	}
	files, err := listFiles(dir)
	if err != nil {
		return err
	}
	r := reader{dir: dir}
	defer r.close()
	for _, n := range files {
		if err := r.open(n); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was the oldest
			}
			return err
		}
		if more, err := r.lines(each); err != nil || !more {
			return err
		}
	}
	return nil
}

// pollEvery is how often Follow looks for new records.
const pollEvery = 200 * time.Millisecond

// Follow calls each with every line that is written to the log in dir from now on,
// and before that with the lines of the newest file, until ctx ends.
func Follow(ctx context.Context, dir string, each func(line []byte) bool) error {
	dir, err := canonicalDir(dir)
	if err != nil {
		return err
	}
	r := reader{dir: dir}
	defer r.close()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		files, err := listFiles(dir)
		if err != nil {
			return err
		}
		if r.f == nil && len(files) > 0 {
			if err := r.open(files[len(files)-1]); err != nil {
				return err
			}
		}
		more, err := r.followed(files, each)
		if err != nil || !more {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// followed reads to the end of the open file and then the files after it.
func (r *reader) followed(files []int, each func([]byte) bool) (more bool, err error) {
	if r.f == nil {
		return true, nil
	}
	if more, err := r.lines(each); err != nil || !more {
		return more, err
	}
	for _, n := range files {
		if n <= r.number {
			continue
		}
		if err := r.open(n); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return false, err
		}
		if more, err := r.lines(each); err != nil || !more {
			return more, err
		}
	}
	return true, nil
}

// reader reads the lines of one file after another.
type reader struct {
	dir    string
	number int
	f      *os.File
	buf    *bufio.Reader
	part   []byte // of a line whose end is not written yet
}

func (r *reader) open(n int) error {
	f, err := os.Open(pathOf(r.dir, n))
	if err != nil {
		return err
	}
	r.close()
	r.number, r.f, r.buf, r.part = n, f, bufio.NewReaderSize(f, 64<<10), nil
	return nil
}

func (r *reader) close() {
	if r.f != nil {
		_ = r.f.Close() // it was only read
	}
}

// lines calls each with the whole lines that are there.
func (r *reader) lines(each func([]byte) bool) (more bool, err error) {
	for {
		line, err := r.buf.ReadBytes('\n')
		r.part = append(r.part, line...)
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		whole := r.part
		r.part = nil
		if !each(whole) {
			return false, nil
		}
	}
}
