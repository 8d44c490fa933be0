package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Joined is a connection to a daemon, which serves it from now on.
type Joined struct {
	*net.UnixConn
	Status
}

// Join connects to the daemon of a key, and starts it if there is none. An error that is
// a [StartError] has the daemon's reason for not starting.
func (p *Dir) Join(ctx context.Context, key string, program Program) (*Joined, error) {
	l, err := p.lock(ctx, key)
	if err != nil {
		return nil, err
	}
	defer l.unlock()
	j, err := p.dial(key, askServe, helloWait)
	if !errors.Is(err, errNobody) {
		return j, err
	}
	// The socket of a killed daemon: under the lock, no other process is about to listen.
	if err := os.Remove(p.file(key, socketFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	p.sweep()
	if err := p.start(ctx, key, l, program); err != nil {
		return nil, err
	}
	j, err = p.dial(key, askServe, helloWait)
	if err != nil {
		return nil, fmt.Errorf("the server in the background has ended at once: %w; %s tells more", err, p.file(key, logFile))
	}
	return j, nil
}

// errNobody says that nobody listens.
var errNobody = errors.New("nobody listens")

// silentError is that of a daemon that does not answer in time.
type silentError struct{ pid int }

func (e *silentError) Error() string {
	return fmt.Sprintf("the server in the background does not answer; toolcrib detached stop %d ends it", e.pid)
}

// dial connects to the daemon of a key.
func (p *Dir) dial(key, ask string, patience time.Duration) (*Joined, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: p.file(key, socketFile), Net: "unix"})
	if err != nil {
		if nobody(err) {
			return nil, errNobody
		}
		return nil, err
	}
	j := &Joined{UnixConn: conn}
	if err := j.hello(ask, patience); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return j, nil
}

// hello sends the purpose of the connection, and receives the status.
func (j *Joined) hello(ask string, patience time.Duration) error {
	from, err := peerOf(j.UnixConn)
	switch {
	case err != nil:
		return err
	case from.uid != os.Geteuid():
		return fmt.Errorf("the server in the background belongs to another user, %d", from.uid)
	}
	if err := j.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	line := []byte(nil)
	if _, err = io.WriteString(j, ask+"\n"); err == nil {
		line, err = readLine(j, mostSaid)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &silentError{from.pid}
	case err != nil:
		return errNobody // it ended meanwhile
	}
	if err := json.Unmarshal(line, &j.Status); err != nil {
		return err
	}
	if j.Refused != "" {
		return fmt.Errorf("the server in the background refuses: %s", j.Refused)
	}
	j.PID = from.pid // as the system knows it
	return j.SetDeadline(time.Time{})
}

// Most bytes of a first line: of a relay, and of a daemon.
const (
	mostAsked = 16
	mostSaid  = 1 << 20
)

// readLine reads a line and nothing after it.
func readLine(r io.Reader, most int) ([]byte, error) {
	var line []byte
	for one := make([]byte, 1); len(line) < most; {
		if _, err := io.ReadFull(r, one); err != nil {
			return nil, err
		}
		if one[0] == '\n' {
			return line, nil
		}
		line = append(line, one[0])
	}
	return nil, errors.New("the line is too long")
}

// Relay copies in to the daemon, and its answers to out, until the daemon closes the
// connection. After the end of in, or of ctx, the daemon does so when running calls have
// had time to answer. An error says that the daemon ended by itself, or
// that out broke.
func (j *Joined) Relay(ctx context.Context, in io.Reader, out io.Writer) error {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(j.UnixConn, in) // what does not get there is missed there
		close(ended)
		_ = j.CloseWrite() // the daemon may be gone
	}()
	said := make(chan error, 1)
	go func() {
		_, err := io.Copy(out, j.UnixConn)
		said <- err
	}()
	defer j.Close()
	var err error
	select {
	case err = <-said:
	case <-ctx.Done():
		_ = j.CloseWrite() // likewise
		select {
		case err = <-said:
		case <-time.After(farewell):
		}
		return err
	}
	select {
	case <-ended:
		return err
	default:
		return errors.Join(fmt.Errorf("the server in the background, process %d, has ended the connection; %s tells more", j.PID, j.Log), err)
	}
}

// farewell is how long a daemon may take to close a connection that is at its end; it
// gives calls two seconds.
const farewell = 3 * time.Second
