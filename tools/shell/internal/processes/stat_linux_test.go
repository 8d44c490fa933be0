package processes

import (
	"net"
	"os"
	"slices"
	"testing"
)

// A program may be called anything.
func TestParseStat(t *testing.T) {
	const line = "7 (a) R 1 (b) S 12 7 7 0 -1 4194560 1 2 3 4 50 25 0 0 20 0 3 0 12345 9999 10 0 0 0\n"
	p, ok := parseStat([]byte(line))
	if !ok || p.State != "S" || p.Parent != 12 || p.Command != "[a) R 1 (b]" || p.CPU != 75*tick || p.Began != 12345 || p.Memory != 10*int64(os.Getpagesize()) {
		t.Errorf("%t %+v", ok, p)
	}
	for _, bad := range []string{"", "7 (a", "7 )a(", "7 (a) S 1 2", "7 (a) S x 7 7 0 -1 4194560 1 2 3 4 50 25 0 0 20 0 3 0 12345 9999 10 0 0 0"} {
		if p, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q is %+v", bad, p)
		}
	}
}

func TestListening(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("needs: loopback: %v", err)
	}
	defer ln.Close()
	pids, err := Listening(t.Context(), ln.Addr().(*net.TCPAddr).Port)
	if err != nil || !slices.Contains(pids, os.Getpid()) {
		t.Errorf("%v %v", pids, err)
	}
}
