package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
)

// netBox is a box whose programs may have the network.
type netBox struct {
	*box
	t *testing.T
}

func newNetBox(t *testing.T, opt sandbox.Options) *netBox {
	t.Helper()
	b := newBox(t, sandbox.Full)
	opt.Level = sandbox.Full
	b.Configure(opt)
	return &netBox{b, t}
}

func (b *netBox) start(network bool, script string) (*sandbox.Process, *os.File) {
	b.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	defer w.Close()
	p, err := b.Start(b.ctx, sandbox.Command{Args: []string{"bash", "-c", script}, Dir: b.root, Stdout: w, Stderr: w, Network: network})
	if refused, ok := errors.AsType[*sandbox.UnavailableError](err); ok {
		b.t.Skipf("needs: the sandbox: %v", refused)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return p, r
}

func (b *netBox) run(network bool, script string) (string, sandbox.Exit) {
	b.t.Helper()
	p, r := b.start(network, script)
	defer r.Close()
	out, err := io.ReadAll(r)
	if err != nil {
		b.t.Fatal(err)
	}
	<-p.Done()
	return string(out), p.Exit()
}

// asked is a program that asks the proxy for a host of TARGET by CONNECT, with bash alone:
// nothing else need be installed.
const asked = `
at=${PROXY:-$HTTPS_PROXY}; at=${at#http://}; secret=${at%@*}; at=${at#*@}
exec 3<>/dev/tcp/${at%:*}/${at#*:} || exit 9
printf 'CONNECT %s HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic %s\r\n\r\n' $TARGET $(printf %s "$secret" | base64 -w0) >&3
IFS= read -r status <&3; echo "${status%$'\r'}"
`

// TestNetwork reaches a host of the machine that the configuration allows, and no other,
// and that with the network alone.
func TestNetwork(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	go func() {
		for {
			c, err := far.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(c, "from outside")
			c.Close()
		}
	}()
	at := far.Addr().String()
	b := newNetBox(t, sandbox.Options{Private: []string{at}})
	target := "TARGET=" + at
	var reached []string
	b.ctx = tools.WithReached(b.ctx, func(host string) { reached = append(reached, host) })
	out, exit := b.run(true, target+asked+"cat <&3 | tail -n 1")
	if !strings.HasPrefix(out, "HTTP/1.1 200 ") || !strings.HasSuffix(out, "from outside\n") || exit.Refused != "" {
		t.Errorf("%s%+v", out, exit)
	}
	out, exit = b.run(true, "TARGET=169.254.169.254:80"+asked)
	if !strings.HasPrefix(out, "HTTP/1.1 403 ") || !strings.Contains(exit.Refused, "169.254.169.254:80: the address is private") {
		t.Errorf("%s%+v", out, exit)
	}
	out, exit = b.run(false, target+asked)
	if !strings.HasPrefix(out, "HTTP/1.1 403 ") || !strings.Contains(exit.Refused, "the network is off; it asked for "+at) {
		t.Errorf("%s%+v", out, exit)
	}
	if out, _ = b.run(true, "exec 3<>/dev/tcp/"+strings.ReplaceAll(at, ":", "/")); !strings.Contains(out, "refused") {
		t.Errorf("past the proxy: %s", out)
	}
	if strings.Join(reached, " ") != "127.0.0.1" {
		t.Errorf("noted for the call: %q", reached)
	}
}

// TestNetworkOfAnother has a command without the network use what one with it has, on the
// loopback device that they share: its port, and its secret after its end.
func TestNetworkOfAnother(t *testing.T) {
	b := newNetBox(t, sandbox.Options{Private: []string{"127.0.0.1"}})
	lasting, r := b.start(true, "echo $HTTPS_PROXY > proxy; echo up; exec sleep 60")
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	const target = "TARGET=127.0.0.1:9; "
	if out, _ := b.run(false, target+"PROXY=${HTTPS_PROXY/command:*@/command:guess@}"+asked); !strings.HasPrefix(out, "HTTP/1.1 407 ") {
		t.Errorf("a guess: %s", out)
	}
	lasting.Kill()
	select {
	case <-lasting.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
	if out, _ := b.run(true, target+"PROXY=$(cat proxy)"+asked); !strings.HasPrefix(out, "HTTP/1.1 407 ") {
		t.Errorf("a secret after its end: %s", out)
	}
}

// TestSharedLoopback reaches in one command what another serves.
func TestSharedLoopback(t *testing.T) {
	b := newNetBox(t, sandbox.Options{})
	python, _ := b.run(false, "command -v python3")
	if python == "" {
		t.Skip("needs: python3")
	}
	p, r := b.start(false, "exec python3 -u -m http.server --bind 127.0.0.1 18234 2>&1")
	defer r.Close()
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if out, _ := b.run(false, "exec 3<>/dev/tcp/127.0.0.1/18234; printf 'GET / HTTP/1.0\r\n\r\n' >&3; head -1 <&3"); !strings.Contains(out, "200 OK") {
		t.Errorf("not reached: %s", out)
	}
	p.Kill()
	<-p.Done()
}

// answering is an asker whose user gives one answer to everything.
type answering struct {
	action tools.Action
	asked  []string
}

func (a *answering) Ask(_ context.Context, forms ...tools.Form) ([]tools.Answer, error) {
	var answers []tools.Answer
	for _, f := range forms {
		a.asked = append(a.asked, f.Message)
		answers = append(answers, tools.Answer{Action: a.action})
	}
	return answers, nil
}

// TestAskHosts has the user of a session allow a private host, for this session alone. A
// session that cannot ask is told what allows it.
func TestAskHosts(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	go func() {
		for {
			c, err := far.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	at := far.Addr().String()
	b := newNetBox(t, sandbox.Options{})
	own := tools.Session(b.ctx)
	as := func(principal, client string, forms bool, user *answering) (string, sandbox.Exit) {
		t.Helper()
		ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: principal, Client: tools.Client{Name: client, Forms: forms}, Workspace: own.Workspace})
		b.ctx = tools.WithAsker(ctx, user)
		if err := b.AskHosts(b.ctx); err != nil {
			t.Fatal(err)
		}
		return b.run(true, "TARGET="+at+asked)
	}
	const asks = "; call again with network: true, and the user is asked"
	yes, no := &answering{action: tools.Accept}, &answering{action: tools.Decline}
	for i, c := range []struct {
		principal, client string
		forms             bool
		user              *answering
		reached, told     bool
		asked             int // so far
	}{
		{tools.Local, "mute", false, yes, false, false, 0},
		{tools.Local, "mute", false, yes, false, false, 0},
		{"ada", "web", true, yes, false, false, 0},
		{"ada", "web", true, yes, false, false, 0},
		{tools.Local, "x", true, yes, false, true, 0},
		{tools.Local, "x", true, yes, true, false, 1},
		{tools.Local, "x", true, yes, true, false, 1},
		{tools.Local, "y", true, no, false, true, 0},
		{tools.Local, "y", true, no, false, false, 1},
		{tools.Local, "y", true, no, false, false, 1},
	} {
		out, exit := as(c.principal, c.client, c.forms, c.user)
		if reached := strings.HasPrefix(out, "HTTP/1.1 200 "); reached != c.reached {
			t.Errorf("%d: reached %v: %s", i, reached, out)
		}
		if told := strings.Contains(exit.Refused, asks); told != c.told || !c.reached && !strings.Contains(exit.Refused, "network_private: ["+at+"] in the configuration allows it") {
			t.Errorf("%d: %s", i, exit.Refused)
		}
		if len(c.user.asked) != c.asked {
			t.Errorf("%d: asked %q", i, c.user.asked)
		}
	}
	if want := "let the tools and commands of this session reach " + at + " in your private network"; yes.asked[0] != want {
		t.Error(yes.asked[0])
	}
}
