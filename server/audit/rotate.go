package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// rotate ends a full file and begins the next.
func (l *Log) rotate() error {
	next, err := l.nextFile()
	if err != nil {
		return err
	}
	closing := own{Kind: kindClose, File: fileName(l.pos.File), Next: fileName(next), NextSeq: l.pos.Seq + 2}
	if err := l.putOwn(closing); err != nil {
		return err
	}
	if err := l.syncFile(l.f); err != nil {
		return err
	}
	return l.start(next)
}

// nextFile returns a number that is after those of all files.
func (l *Log) nextFile() (int, error) {
	files, err := listFiles(l.opt.Dir)
	if err != nil {
		return 0, err
	}
	last := max(l.pos.File, l.head.File)
	if len(files) > 0 {
		last = max(last, files[len(files)-1])
	}
	return last + 1, nil
}

// start begins a file, which is empty or does not exist, with its first records. The
// head knows it from then on.
func (l *Log) start(number int, more ...own) error {
	if err := errors.Join(l.drop(), l.mkdir()); err != nil {
		return err
	}
	f, err := os.OpenFile(pathOf(l.opt.Dir, number), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	before := l.pos
	if l.pos.File != number {
		l.pos.Before = l.pos.File
	}
	l.f, l.pos.File, l.pos.Size, l.pos.Closed = f, number, 0, false
	opening := own{Kind: kindOpen, File: fileName(number), LastSeq: before.Seq, LastHash: &before.Hash}
	if l.pos.Before > 0 {
		opening.Previous = fileName(l.pos.Before)
	}
	if err := l.putOwn(append([]own{opening}, more...)...); err != nil {
		l.pos = before
		return errors.Join(err, os.Remove(f.Name()))
	}
	l.begun = l.pos.Size
	if err := errors.Join(l.syncFile(f), l.syncDir()); err != nil {
		return err
	}
	l.dirty = false
	if err := l.moveHead(); err != nil {
		return err
	}
	return l.removeOld()
}

// syncDir brings the names of the files to the disk, where the system can.
func (l *Log) syncDir() error {
	if l.opt.NoSync {
		return nil
	}
	d, err := os.Open(l.opt.Dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // there are systems without; the next start finds the file or tells
	return d.Close()
}

// removeOld removes the files that are too many: first the chain says that they go,
// then the head does, then they do.
func (l *Log) removeOld() error {
	files, err := listFiles(l.opt.Dir)
	if err != nil {
		return err
	}
	var gone []int // whose removal is on record, and which a process did not live to remove
	for len(files) > 0 && files[0] < l.head.Oldest {
		gone, files = append(gone, files[0]), files[1:]
	}
	var records []own
	for len(files) > max(l.opt.MaxFiles, 1) {
		records = append(records, own{Kind: kindRemoved, File: fileName(files[0])})
		gone, files = append(gone, files[0]), files[1:]
	}
	if len(records) > 0 {
		if err := l.putOwn(records...); err != nil {
			return err
		}
		if err := l.syncFile(l.f); err != nil {
			return err
		}
		l.begun, l.dirty, l.head.Oldest = l.pos.Size, false, files[0]
		if err := l.moveHead(); err != nil {
			return err
		}
		if err := l.syncFile(l.heads.f); err != nil {
			return err
		}
	}
	for _, n := range gone {
		if err := os.Remove(pathOf(l.opt.Dir, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.opt.Log.Warn("an old file of the audit log cannot be removed", "err", fmt.Errorf("audit: %w", err))
		}
	}
	return nil
}
