package outlet

import (
	"context"
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ends returns the two ends of the stdout of a server. Node makes it a pair of sockets, other
// clients a pipe.
func ends(t *testing.T, pair bool) (client, server *os.File) {
	t.Helper()
	var err error
	if pair {
		var fds [2]int
		if fds, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
			client, server = os.NewFile(uintptr(fds[0]), "client"), os.NewFile(uintptr(fds[1]), "server")
		}
	} else {
		client, server, err = os.Pipe()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// TestSettle has a client that is slow to read: it must read the event and the answer apart.
func TestSettle(t *testing.T) {
	for name, pair := range map[string]bool{"pipe": false, "sockets": true} {
		t.Run(name, func(t *testing.T) {
			client, server := ends(t, pair)
			settled(t, client, server)
		})
	}
	t.Run("listener", func(t *testing.T) {
		client, server := ends(t, true)
		conn, err := net.FileConn(server)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		settled(t, client, conn)
	})
}

// settled fails the test if the client, after a while, reads both in one piece.
func settled(t *testing.T, client io.Reader, server io.Writer) {
	t.Helper()
	w := NewWriter(server)
	for {
		begin := time.Now()
		w.Write(func() []byte { return []byte("event") })
		go func() {
			w.Settle(t.Context(), begin)
			w.Finish(Ending{}, func() []byte { return []byte("answer") })
		}()
		time.Sleep(20 * settleTime)
		late := time.Since(begin) > settleMost/2 // a busy machine: the answer may have come
		var got []string
		for size := 0; size < len("event\nanswer\n"); {
			b := make([]byte, 100)
			n, err := client.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(b[:n]))
			size += n
		}
		if !slices.Equal(got, []string{"event\n", "answer\n"}) {
			if late {
				continue
			}
			t.Errorf("the client reads %q, want the event and the answer apart", got)
		}
		return
	}
}

// TestRead has a client that reads an event and not what came after it, over a pipe, whose bytes
// are counted.
func TestRead(t *testing.T) {
	client, server := ends(t, false)
	w := NewWriter(server)
	w.Write(func() []byte { return []byte("event") })
	sent := w.sent.Load()
	w.Write(func() []byte { return []byte("other") })
	if w.read(sent) {
		t.Error("an event that is unread counts as read")
	}
	if _, err := io.ReadFull(client, make([]byte, sent)); err != nil {
		t.Fatal(err)
	}
	if !w.read(sent) {
		t.Error("an event that the client has read counts as unread since another is")
	}
}

// TestSettleUnread has a client that does not read: the answer is written nevertheless, and a
// cancelled call does not wait.
func TestSettleUnread(t *testing.T) {
	_, server := ends(t, false)
	w := NewWriter(server)
	w.Write(func() []byte { return []byte("event") })
	w.Settle(t.Context(), time.Now())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	w.Settle(ctx, begin)
	if took := time.Since(begin); took >= settleMost {
		t.Errorf("a cancelled call waited %v", took)
	}
}
