package audit

import (
	"errors"
	"time"
)

// write is the goroutine that writes queued records to the disk in batches: all that
// come while one batch is written share the next write and sync.
func (l *Log) write() {
	var writeAt, syncAt, retryAt <-chan time.Time
	for {
		sync := false
		select {
		case <-l.signal:
			if !l.hurry() {
				if writeAt == nil && retryAt == nil {
					writeAt = time.After(writeDelay)
				}
				continue
			}
			sync = true
		case <-writeAt:
		case <-syncAt:
			sync = true
		case <-retryAt:
		case <-l.stop:
			l.ended <- errors.Join(l.flush(true), l.closeDisk())
			return
		}
		writeAt, retryAt = nil, nil
		err := l.flush(sync)
		switch {
		case err != nil:
			retryAt, syncAt = time.After(retryDelay), nil
		case !l.dirty:
			syncAt = nil
		case syncAt == nil:
			syncAt = time.After(syncDelay)
		}
	}
}

// hurry reports whether a caller waits for a queued record.
func (l *Log) hurry() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.urgent
}

// flush writes the queued records. After an error, those that no caller waits for stay in
// the queue.
func (l *Log) flush(sync bool) error {
	l.mu.Lock()
	batch, lost := l.queue, l.lost
	l.queue, l.urgent = nil, false
	l.mu.Unlock()
	l.made(batch)
	if lost > 0 {
		told := own{Kind: kindLost, Time: time.Now(), Count: lost}.record()
		batch = append([]waiting{{record: told}}, batch...)
	}
	written, err := l.commit(batch, sync)
	if lost > 0 {
		if written > 0 {
			written--
		} else {
			lost = 0
		}
		batch = batch[1:]
	}
	for i, w := range batch {
		if w.done == nil {
			continue
		}
		if i < written && err == nil {
			w.done <- nil
		} else {
			w.done <- err
		}
	}
	l.settle(batch, written, lost, err)
	return err
}

// settle puts unwritten records back, and logs when writing begins or ceases to fail.
func (l *Log) settle(batch []waiting, written, lost int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var rest []waiting
	for i, w := range batch {
		if i < written || w.done != nil {
			l.queued -= w.size
		} else {
			l.queued += len(w.record) - w.size
			w.size = len(w.record)
			rest = append(rest, w)
		}
	}
	l.queue = append(rest, l.queue...)
	l.lost -= lost
	switch {
	case err != nil && l.failed == nil:
		l.opt.Log.Error("the audit log cannot be written", "dir", l.opt.Dir, "err", err)
	case err == nil && l.failed != nil:
		l.opt.Log.Warn("the audit log can be written again", "dir", l.opt.Dir)
	}
	l.failed = err
	l.room.Broadcast()
}
