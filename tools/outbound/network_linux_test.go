package outbound_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"toolcrib/tools/outbound"
)

// inside is set in the process that runs in a network of its own.
const inside = "OUTBOUND_TEST_INSIDE"

// TestNetwork runs in a network namespace in which every address there is leads to one
// server, and counts the connections that reach it: real ones, by the dialler of the package.
func TestNetwork(t *testing.T) {
	if os.Getenv(inside) == "" {
		outsideOfIt(t)
		return
	}
	for _, args := range []string{"link set lo up", "route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo"} {
		if out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, out)
		}
	}
	seen := &arrivals{}
	for _, address := range []string{"0.0.0.0:80", "[::]:80"} {
		network := "tcp4"
		if address[0] == '[' {
			network = "tcp6"
		}
		l, err := (&net.ListenConfig{}).Listen(t.Context(), network, address)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(hello), ConnState: seen.note}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { server.Close() })
	}
	known := &world{answers: answers}
	client, err := outbound.New(outbound.Options{Rules: outbound.Rules{
		Lookup: known.lookup,
		Proxy:  func(*http.Request) (*url.URL, error) { return nil, nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	w := &world{t: t, client: client}

	// The server can be reached at an address that must be refused, or nothing is shown.
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", "169.254.169.254:80")
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if got := seen.wait("169.254.169.254"); got == "" {
		t.Fatal("the connection of the test itself was not seen")
	}
	refused, allowed := vectors()
	for _, u := range refused {
		if _, _, err := w.ask(outbound.Request{URL: u, Tries: 1}); err == nil {
			t.Errorf("%q is reached", u)
		}
	}
	for _, u := range allowed {
		if strings.Contains(u, ":8443") {
			continue
		}
		if _, got, err := w.ask(outbound.Request{URL: u, Tries: 1}); got != "hello" {
			t.Errorf("%q: %q, %v", u, got, err)
		}
	}
	for _, at := range seen.all() {
		if at != "8.8.8.8" && at != "2606:4700:4700::1111" && at != "64:ff9b::808:808" && at != "169.254.169.254" {
			t.Errorf("a connection reached %s", at)
		}
	}
}

// outsideOfIt runs the test in new namespaces.
func outsideOfIt(t *testing.T) {
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("needs: ip: the program of iproute2 sets up a network namespace")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNetwork$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSPC) {
		t.Skip("needs: network namespaces: the system lets this user make none: " + err.Error())
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// arrivals are the addresses at which connections were accepted.
type arrivals struct {
	mu  sync.Mutex
	ats []string
	new chan struct{}
}

func (a *arrivals) note(c net.Conn, state http.ConnState) {
	if state != http.StateNew {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	at, _ := netip.ParseAddrPort(c.LocalAddr().String())
	a.ats = append(a.ats, at.Addr().Unmap().String())
	if a.new != nil {
		close(a.new)
		a.new = nil
	}
}

func (a *arrivals) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string{}, a.ats...)
}

// wait waits until an address is among the arrivals.
func (a *arrivals) wait(at string) string {
	for {
		a.mu.Lock()
		for _, one := range a.ats {
			if one == at {
				a.mu.Unlock()
				return one
			}
		}
		if a.new == nil {
			a.new = make(chan struct{})
		}
		more := a.new
		a.mu.Unlock()
		<-more
	}
}

// TestOwnAddress refuses the addresses of this machine's devices, public or not.
func TestOwnAddress(t *testing.T) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	guard, err := outbound.NewGuard(outbound.Rules{Dial: func(_ context.Context, address string) (net.Conn, error) {
		return nil, fmt.Errorf("%s was dialled: %w", address, io.EOF)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		ip, _ := netip.AddrFromSlice(one.(*net.IPNet).IP)
		to := outbound.Target{Addr: ip.Unmap(), Port: 80}
		if _, err := guard.Direct(t.Context(), to); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", to, err)
		}
	}
}
