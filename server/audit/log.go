package audit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"toolcrib/workspace/state"
)

// Options are the directory of a log and how it is kept.
type Options struct {
	Dir      string     // of the files, made with mode 0700
	State    *state.Dir // keeps the key, the head and the lock; not in Dir
	MaxBytes int64      // of a file; 0 = 16 MiB
	MaxFiles int        // that are kept; 0 = 16
	// NoSync leaves it to the system when records reach the disk. A loss of power
	// may then look like tampering.
	NoSync bool
	// Redact takes the secrets out of a JSON value, for Arguments; nil = nothing is
	// taken out.
	Redact func(json.RawMessage) json.RawMessage
	// Digested are the names of arguments that hold contents of files: a record has their
	// length, and a digest that proves their value.
	Digested []string
	Log      *slog.Logger // hears of tampering, crashes and failures; nil = discard
}

// Bounds of a log where the Options set none, and of what waits to be written.
const (
	defaultBytes = 16 << 20
	defaultFiles = 16
	maxQueued    = 1 << 20 // bytes
)

// How long a record waits that nobody waits for: until it is written, until it is
// on the disk, and until it is tried again after a failure.
const (
	writeDelay = 10 * time.Millisecond
	syncDelay  = 100 * time.Millisecond
	retryDelay = time.Second
	// lockWait is how long other processes may keep a batch waiting.
	lockWait = 10 * time.Second
)

// Promise is the guarantee that Append gives for a record.
type Promise uint8

const (
	// Later has it written within 10 ms and on the disk within 100 ms.
	Later Promise = iota
	// Soon has it written and brought to the disk at once; nobody waits for it.
	Soon
	// Now has Append return when it is on the disk, or cannot be.
	Now
)

// ErrClosed means that a log is closed for records.
var ErrClosed = errors.New("the audit log is closed")

// Log writes records. Its methods may be called by several goroutines.
type Log struct {
	opt     Options
	digests sync.Pool // of hash.Hash, for Digest

	mu     sync.Mutex
	room   *sync.Cond // there is room in the queue again
	queue  []waiting
	queued int  // bytes of the queue
	urgent bool // somebody waits
	failed error
	lost   int // records that found no room while writing failed
	closed bool

	signal chan struct{} // the queue has something new
	stop   chan struct{}
	ended  chan error

	disk // of the writing goroutine alone
}

// waiting is a record in the queue.
type waiting struct {
	record []byte
	make   func() ([]byte, error) // makes the record; nil = it is there
	size   int                    // that it counts for in the queue, in bytes
	done   chan error             // nil = nobody waits
}

// Open opens the log of a directory or begins one. Changes to it since the last write are
// reported in its own records and in the server's log. An error means that nothing can be
// written; [ErrForeign] is one of the reasons.
func Open(ctx context.Context, opt Options) (*Log, error) {
	if opt.MaxBytes == 0 {
		opt.MaxBytes = defaultBytes
	}
	if opt.MaxFiles == 0 {
		opt.MaxFiles = defaultFiles
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	dir, err := canonicalDir(opt.Dir)
	if err != nil {
		return nil, err
	}
	opt.Dir = dir
	if state.Within(opt.State.Path(), dir) != "" {
		return nil, fmt.Errorf("the key of the audit log would lie in its directory %s; name another", dir)
	}
	l := &Log{opt: opt, signal: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan error, 1)}
	l.room = sync.NewCond(&l.mu)
	if err := l.openDisk(ctx); err != nil {
		return nil, fmt.Errorf("audit log %s: %w", dir, err)
	}
	digests, err := derive(l.secret, "digest")
	if err != nil {
		return nil, errors.Join(err, l.closeDisk())
	}
	l.digests.New = func() any { return hmac.New(sha256.New, digests) }
	go l.write()
	return l, nil
}

// canonicalDir returns the one name of a directory that may not exist yet.
func canonicalDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real, nil
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		return filepath.Join(parent, filepath.Base(dir)), nil
	}
	return dir, nil
}

// Close writes the queued records and ends the log. It returns an error if it could not
// write them.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	l.closed = true
	l.room.Broadcast()
	l.mu.Unlock()
	close(l.stop)
	return <-l.ended
}

// Dir returns the directory of the files.
func (l *Log) Dir() string { return l.opt.Dir }

// mkdir makes the directory of the log.
func (l *Log) mkdir() error { return os.MkdirAll(l.opt.Dir, 0o700) }
