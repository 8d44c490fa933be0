package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
)

// attach brings the position up to the end of the log: others may have written, been
// killed while they wrote, or tampered with the files.
func (l *Log) attach() error {
	h, err := l.heads.read()
	if errors.Is(err, errNoHead) {
		if l.head.Log != "" {
			return errBadHead // this process has seen it
		}
		return l.begin()
	}
	if err != nil {
		return err
	}
	same := l.f != nil && h.Version == l.head.Version && l.unchanged()
	if l.head.Log != h.Log {
		l.pos = h.position
	}
	l.head = h
	if same {
		return nil
	}
	if err := l.drop(); err != nil {
		return err
	}
	if h.Seq > l.pos.Seq || l.pos.File == 0 {
		l.pos = h.position
	}
	return l.catchUp()
}

// unchanged reports whether the open file is still the one at its name and ends
// where this process left it.
func (l *Log) unchanged() bool {
	opened, err := l.f.Stat()
	if err != nil || opened.Size() != l.pos.Size {
		return false
	}
	named, err := os.Lstat(pathOf(l.opt.Dir, l.pos.File))
	return err == nil && os.SameFile(opened, named)
}

// catchUp reads on from the position to the end of the last file and opens that.
func (l *Log) catchUp() error {
	for {
		if l.pos.Closed || l.pos.File == 0 {
			next, err := l.following()
			if err != nil {
				return err
			}
			if next == 0 {
				next = l.pos.File + 1
				return l.start(next)
			}
			l.pos.Before, l.pos.File, l.pos.Size, l.pos.Closed = l.pos.File, next, 0, false
		}
		rest, err := l.readOn()
		var gone lossError
		switch {
		case errors.As(err, &gone):
			return l.goOnAfter(string(gone))
		case err != nil:
			return err
		case l.pos.Closed && len(rest) == 0:
			continue
		case len(rest) == 0 && l.pos.Size > 0:
			return nil
		case len(rest) == 0: // it was made, and its maker killed
			return l.start(l.pos.File)
		case l.pos.Closed || !torn(rest):
			return l.goOnAfter("there are lines that do not belong to the log")
		}
		return l.cutTorn(rest)
	}
}

// following returns the number of the file after the position; 0 = there is none.
func (l *Log) following() (int, error) {
	files, err := listFiles(l.opt.Dir)
	for _, n := range files {
		if n > l.pos.File {
			return n, err
		}
	}
	return 0, err
}

// lossError names the missing records or files.
type lossError string

func (e lossError) Error() string { return string(e) }

// maxBehind is the most bytes that other processes can have written meanwhile.
const maxBehind = 64 << 20

// readOn opens the file at the position and reads on from there as long as the chain
// holds. It returns the remaining bytes. If the position does not exist, its error is a
// lossError.
func (l *Log) readOn() (rest []byte, err error) {
	f, err := os.OpenFile(pathOf(l.opt.Dir, l.pos.File), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, lossError("the file " + fileName(l.pos.File) + " is gone")
	}
	if err != nil {
		return nil, err
	}
	l.f = f
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() < l.pos.Size || info.Size()-l.pos.Size > maxBehind {
		return nil, lossError("the file " + fileName(l.pos.File) + " is not as long as it was")
	}
	if l.pos.Size >= int64(tailSize) {
		end := make([]byte, tailSize)
		if _, err := f.ReadAt(end, l.pos.Size-int64(tailSize)); err != nil {
			return nil, err
		}
		if string(end) != hashField+l.pos.Hash.String()+lineEnd {
			return nil, lossError("the file " + fileName(l.pos.File) + " was changed")
		}
	}
	rest, err = io.ReadAll(io.NewSectionReader(f, l.pos.Size, info.Size()-l.pos.Size))
	for !l.pos.Closed && err == nil {
		end := bytes.IndexByte(rest, '\n') + 1
		e, ok := parse(rest[:end])
		if !ok || !l.chain.follows(e, l.pos.Hash, l.pos.Seq) {
			break
		}
		o, mine := e.asOwn()
		l.pos.Seq, l.pos.Hash, l.pos.Size = e.seq, e.stated, l.pos.Size+int64(end)
		l.pos.Closed = mine && o.Kind == kindClose
		l.dirty = true
		rest = rest[end:]
	}
	return rest, err
}

// torn reports whether bytes after the last record look like the result of a crash: a line
// without its end, or bytes that never reached the disk.
func torn(rest []byte) bool {
	return bytes.IndexByte(rest, '\n') < 0 || bytes.IndexByte(rest, 0) >= 0
}

// cutTorn cuts the bytes that a killed process left half written, and records that.
func (l *Log) cutTorn(rest []byte) error {
	digest := sha256.Sum256(rest)
	told := own{Kind: kindRecovered, File: fileName(l.pos.File), Bytes: int64(len(rest)), Digest: hex.EncodeToString(digest[:])}
	l.opt.Log.Warn("the audit log had a torn end, which was cut: a process was killed while it wrote", "file", told.File, "bytes", told.Bytes)
	if err := l.f.Truncate(l.pos.Size); err != nil {
		return err
	}
	if l.pos.Size == 0 {
		return l.start(l.pos.File, told)
	}
	return l.putOwn(told)
}

// goOnAfter begins a new file after records that are not there any more, or not as
// they were. The chain goes on from the last that the head knows, so that the gap
// stays.
func (l *Log) goOnAfter(why string) error {
	l.opt.Log.Error("the audit log was tampered with; toolcrib audit verify tells more", "dir", l.opt.Dir, "why", why, "after", l.pos.Seq)
	next, err := l.nextFile()
	if err != nil {
		return err
	}
	return l.start(next, own{Kind: kindMissing, File: fileName(l.pos.File), Why: why})
}
