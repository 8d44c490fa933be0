package shell_test

import (
	"io"
	"net"
	"testing"
	"time"
)

// serving is a server that says back what it gets.
const serving = `exec python3 -u -c '
import socket, sys
s = socket.socket(socket.AF_INET6 if sys.argv[2] == "6" else socket.AF_INET)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("::1" if sys.argv[2] == "6" else "127.0.0.1", int(sys.argv[1])))
s.listen()
print("up")
while True:
    c, _ = s.accept()
    while True:
        d = c.recv(9)
        if not d: break
        c.sendall(b"got " + d)
    c.close()
' %d %s`

// unused returns a port that nobody has.
func unused(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// exchange sends a text to an address, ends its side, and returns the whole answer.
func exchange(t *testing.T, address, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}
