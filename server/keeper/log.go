package keeper

import (
	"bytes"
	"io"
	"os"
	"sync"
)

// mostLogged is how many bytes a log may have; the first half goes when there are more.
const mostLogged = 1 << 20

// Log is the log of a keeper, which has a bound. What the runtime writes when it ends
// goes there too, since it is the process's stderr.
type Log struct {
	mu sync.Mutex
	f  *os.File
}

// NewLog makes a Log of a file that is open for appending and reading.
func NewLog(f *os.File) *Log { return &Log{f: f} }

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, err := l.f.Stat(); err == nil && info.Mode().IsRegular() && info.Size()+int64(len(p)) > mostLogged {
		if err := l.halve(info.Size()); err != nil {
			return 0, err
		}
	}
	return l.f.Write(p)
}

// halve drops the older half, up to the end of a line.
func (l *Log) halve(size int64) error {
	late := make([]byte, min(size, mostLogged/2))
	n, err := l.f.ReadAt(late, size-int64(len(late)))
	if err != nil && err != io.EOF {
		return err
	}
	late = late[:n]
	if i := bytes.IndexByte(late, '\n'); i >= 0 {
		late = late[i+1:]
	}
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err = l.f.Write(late)
	return err
}
