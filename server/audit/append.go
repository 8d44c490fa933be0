package audit

import (
	"fmt"
	"time"
)

// Append adds a record, a JSON object that does not begin with the field "log". With
// Now it returns once the record is on the disk; the error says that it is not.
// Otherwise it waits only where much is queued already; while writing fails, records
// are kept as far as there is room and counted beyond that.
func (l *Log) Append(record []byte, p Promise) error {
	if err := check(record); err != nil {
		return err
	}
	w := waiting{record: record, size: len(record)}
	if p == Now {
		w.done = make(chan error, 1)
	}
	return l.enqueue(w, p != Later)
}

// AppendMade adds a record as Append does, with Later or Soon, that is yet to be
// made: outside of the caller's way, by the goroutine that writes, one after
// another. Until then it counts for size bytes, which is what make holds on to. In
// the place of a record that cannot be made the log tells that it is lost.
func (l *Log) AppendMade(make func() (record []byte, err error), size int, p Promise) error {
	return l.enqueue(waiting{make: make, size: size}, p != Later)
}

// check returns an error for what cannot be a record of Append.
func check(record []byte) error {
	if len(record) < len(`{"a":1}`) || string(record[:len(ownMark)]) == ownMark || record[0] != '{' {
		return fmt.Errorf("not an audit record: %.40q", record)
	}
	return nil
}

// enqueue puts a record into the queue, and wakes the writing goroutine where it
// does not know yet that there is something for it.
func (l *Log) enqueue(w waiting, urgent bool) error {
	l.mu.Lock()
	for l.queued >= maxQueued && l.failed == nil && !l.closed {
		l.room.Wait()
	}
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	if w.done == nil && l.queued >= maxQueued { // and writing fails
		defer l.mu.Unlock()
		l.lost++
		return l.failed
	}
	l.queue = append(l.queue, w)
	l.queued += w.size
	urgent = urgent || l.queued > maxQueued/2
	wake := len(l.queue) == 1 || urgent && !l.urgent
	l.urgent = l.urgent || urgent
	l.mu.Unlock()
	if wake {
		select {
		case l.signal <- struct{}{}:
		default:
		}
	}
	if w.done != nil {
		return <-w.done
	}
	return nil
}

// made makes the records of a batch that are yet to be made.
func (l *Log) made(batch []waiting) {
	for i := range batch {
		w := &batch[i]
		if w.make == nil {
			continue
		}
		record, err := w.one()
		if err == nil {
			err = check(record)
		}
		if err != nil {
			l.opt.Log.Error("an audit record cannot be made", "err", err)
			record = own{Kind: kindLost, Time: time.Now(), Count: 1}.record()
		}
		w.record, w.make = record, nil
	}
}

// one makes the record. A panic is an error: it must not end the writing.
func (w *waiting) one() (record []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return w.make()
}
