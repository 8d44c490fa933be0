package audit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"
)

// disk holds the writing goroutine's knowledge of the files. It is valid only while the
// goroutine holds the lock, since other processes write too.
type disk struct {
	secret []byte
	chain  chain
	heads  headFile
	head   head     // as it was read or written last
	pos    position // after the last record that this process knows of
	f      *os.File // the file at pos; nil = it is to be looked for
	begun  int64    // size of f after its first records, where this process began it
	dirty  bool     // there are records that may not be on the disk
}

// ErrForeign means that the directory of a log holds files that the state does not know:
// of another state directory, or copied there.
var ErrForeign = errors.New("it holds the files of an audit log that this state directory does not know; move them away or name another directory")

func (l *Log) openDisk(ctx context.Context) (err error) {
	if l.secret, err = l.opt.State.Key(ctx, "audit"); err != nil {
		return err
	}
	if l.chain, err = newChain(l.secret); err != nil {
		return err
	}
	folder, err := l.opt.State.Folder(headsFolder)
	if err != nil {
		return err
	}
	l.heads, err = openHead(folder, l.opt.Dir, l.secret, true)
	if err := errors.Join(err, folder.Close()); err != nil {
		return err
	}
	_, err = l.commit(nil, true)
	if err == nil {
		err = takeNote(l.opt.Dir, l.opt.State) // of a log that was begun before there were notes, too
	}
	if err != nil {
		return errors.Join(err, l.closeDisk())
	}
	return nil
}

const headsFolder = "audit_heads"

func lockName(dir string) string { return "audit_" + logName(dir) }

func (l *Log) closeDisk() error {
	return errors.Join(l.drop(), l.heads.f.Close())
}

// drop closes the file, which the next turn looks for again.
func (l *Log) drop() error {
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return err
}

// commit takes its turn and writes a batch. The first written records of it are in
// the files; without an error, and where sync says so, on the disk too.
func (l *Log) commit(batch []waiting, sync bool) (written int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	turn, err := l.opt.State.Lock(ctx, lockName(l.opt.Dir))
	if err != nil {
		return 0, fmt.Errorf("wait for other processes: %w", err)
	}
	defer func() { err = errors.Join(err, turn.Unlock()) }()
	if err := l.attach(); err != nil {
		return 0, errors.Join(err, l.drop())
	}
	for written < len(batch) {
		n, err := l.fill(batch[written:])
		written += n
		if err == nil && written < len(batch) {
			err = l.rotate()
		}
		if err != nil {
			return written, errors.Join(err, l.drop())
		}
	}
	l.dirty = l.dirty || written > 0
	if err := l.settleHead(sync); err != nil {
		return written, errors.Join(err, l.drop())
	}
	return written, nil
}

// settleHead moves the head up to the last record, once that is on the disk: a head
// that survives a loss of power without its records would look like tampering.
func (l *Log) settleHead(sync bool) error {
	if !l.opt.NoSync {
		if !sync {
			return nil
		}
		if l.dirty {
			if err := l.f.Sync(); err != nil {
				return err
			}
		}
	}
	l.dirty = false
	if l.head.position == l.pos {
		return nil
	}
	return l.moveHead()
}

func (l *Log) moveHead() error {
	next := l.head
	next.position = l.pos
	next.Version++
	if err := l.heads.write(next); err != nil {
		return err
	}
	l.head = next
	return nil
}

// fill writes as many records of the batch as have room in the file.
func (l *Log) fill(batch []waiting) (n int, err error) {
	size := 0
	for _, w := range batch {
		size += len(w.record) + maxFrame
	}
	buf := make([]byte, 0, min(int64(size), l.opt.MaxBytes))
	pos := l.pos
	for ; n < len(batch); n++ {
		before := len(buf)
		var hash sum
		buf, hash = l.chain.append(buf, pos.Hash, pos.Seq+1, batch[n].record)
		if l.pos.Size+int64(len(buf)) > l.opt.MaxBytes && (before > 0 || l.pos.Size != l.begun) {
			buf = buf[:before]
			break
		}
		pos.Seq, pos.Hash = pos.Seq+1, hash
	}
	pos.Size += int64(len(buf))
	if err := l.put(buf, pos); err != nil {
		return 0, err
	}
	return n, nil
}

// put writes lines at the end, after which the position is pos. After an error
// nothing of them is there, or the next turn cuts it.
func (l *Log) put(lines []byte, pos position) error {
	if len(lines) == 0 {
		return nil
	}
	if _, err := l.f.WriteAt(lines, l.pos.Size); err != nil {
		return errors.Join(err, l.f.Truncate(l.pos.Size))
	}
	l.pos = pos
	return nil
}

// putOwn writes records of the log itself.
func (l *Log) putOwn(records ...own) error {
	var buf []byte
	pos := l.pos
	for _, o := range records {
		o.Time = time.Now()
		buf, pos.Hash = l.chain.append(buf, pos.Hash, pos.Seq+1, o.record())
		pos.Seq++
		pos.Closed = o.Kind == kindClose
	}
	pos.Size += int64(len(buf))
	l.dirty = true
	return l.put(buf, pos)
}

// begin makes the head of a log that never was, or that was removed with its head.
func (l *Log) begin() error {
	if files, err := listFiles(l.opt.Dir); err != nil {
		return err
	} else if len(files) > 0 {
		return ErrForeign
	}
	before, err := readNote(l.opt.Dir, l.opt.State)
	if err != nil {
		return err
	}
	name := rand.Text()
	l.head = head{Log: name, Dir: l.opt.Dir, Oldest: 1}
	l.pos = position{Hash: l.chain.root(name)}
	if err := l.moveHead(); err != nil {
		return err
	}
	if before == nil {
		return l.start(1)
	}
	l.opt.Log.Error("the audit log was tampered with; toolcrib audit verify tells more", "dir", l.opt.Dir, "why", before.gone())
	return l.start(1, own{Kind: kindMissing, File: fileName(1), Why: before.gone()})
}

func (l *Log) syncFile(f *os.File) error {
	if l.opt.NoSync {
		return nil
	}
	return f.Sync()
}
