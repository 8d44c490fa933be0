package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/egress"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/outbound"
)

// process is a running browser.
type process struct {
	once sync.Once // starts it
	err  error     // why it could not be started

	users int         // see Engine.mu
	idle  *time.Timer // ends it

	conn       *conn
	program    *sandbox.Process
	user, pass string // for the proxy
	own        *ownProxy
	ends       sync.Once
}

// script starts the browser. It tells the proxy of the sandbox first; the browser then talks
// over descriptors 3 and 4. The profile is removed when the browser has closed by itself.
const script = `printf '%s\0' "${HTTP_PROXY:-}"
proxy=${OWN_PROXY:-${HTTP_PROXY#*@}}
dir=$(mktemp -d) || exit 1
"$0" --proxy-server="http://${proxy%/}" --user-data-dir="$dir" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1
rm -rf "$dir"`

// flags switch off what reaches out by itself, and everything that a page without a person
// does not need. Without -loopback, no host passes the proxy by.
var flags = []string{
	"--headless", "--remote-debugging-pipe", "--proxy-bypass-list=<-loopback>",
	"--no-sandbox", // ours is around it; its own cannot be made there
	"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-quic",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
	"--disable-extensions", "--disable-domain-reliability", "--disable-client-side-phishing-detection", "--no-pings",
	"--no-first-run", "--no-default-browser-check", "--no-service-autorun", "--metrics-recording-only",
	"--disable-breakpad", "--disable-crash-reporter", "--disable-dev-shm-usage", "--disable-gpu", "--mute-audio", "--hide-scrollbars",
	"--blink-settings=defaultTextEncodingName=UTF-8", // of pages that do not say theirs
	"--password-store=basic", "--use-mock-keychain",
	"--disable-features=Translate,MediaRouter,OptimizationHints,InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,WebRtcHideLocalIpsWithMdns",
}

// launch starts the browser of p.
func (e *Engine) launch(ctx context.Context, p *process, also string) error {
	file, err := e.Find()
	if err != nil {
		return err
	}
	guard, err := outbound.NewGuard(e.options().Rules)
	if err != nil {
		return err
	}
	if also != "" {
		guard = guard.Also([]string{also})
	}
	level, err := e.sandbox.Check(ctx)
	if err != nil {
		return sandbox.Refused(err)
	}
	command := sandbox.Command{Tool: "web_fetch", Args: append([]string{"/bin/sh", "-c", script, file}, flags...), Network: true, Guard: guard}
	if command.Dir, err = tools.Resolve(ctx, "."); err != nil {
		return err
	}
	if level == sandbox.None {
		if p.own, err = newOwnProxy(guard); err != nil {
			return err
		}
		command.Env = []string{"OWN_PROXY=" + p.own.address}
		p.user, p.pass = p.own.user, p.own.secret
	}
	theirsIn, oursIn, err := os.Pipe()
	if err != nil {
		return err
	}
	oursOut, theirsOut, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirsIn.Close(), oursIn.Close())
	}
	command.Stdin, command.Stdout = theirsIn, theirsOut
	p.program, err = e.sandbox.Start(context.WithoutCancel(ctx), command)
	_, _ = theirsIn.Close(), theirsOut.Close() // the program has its own
	if err != nil {
		_, _ = oursIn.Close(), oursOut.Close() // nothing was written
		return sandbox.Refused(err)
	}
	from := bufio.NewReaderSize(oursOut, 64<<10)
	proxy, err := readMessage(from)
	if err != nil {
		p.end()
		return tools.Errorf(tools.Unavailable, "the browser could not be started: %s", file)
	}
	if level != sandbox.None {
		u, err := url.Parse(string(proxy))
		if err != nil || u.User == nil {
			p.end()
			return tools.Errorf(tools.Unavailable, "the sandbox has no proxy for the browser").WithHint("rendering needs the sandbox at level full")
		}
		p.user = u.User.Username()
		p.pass, _ = u.User.Password()
	}
	p.conn = newConn(oursIn)
	go func() {
		p.conn.listen(from)
		_ = oursIn.Close()
		_ = oursOut.Close()
	}()
	var version struct{ Product string }
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := p.conn.call(ctx, "", "Browser.getVersion", struct{}{}, &version); err != nil {
		p.end()
		return tools.Errorf(tools.Unavailable, "%s does not answer: %v", file, err).WithHint("let the user try %s --version", file)
	}
	p.conn.tell("", "Browser.setDownloadBehavior", map[string]any{"behavior": "deny"})
	return nil
}

// startTime is how long a browser may take to start.
const startTime = 20 * time.Second

// ended reports whether the browser has ended by itself.
func (p *process) ended() bool {
	select {
	case <-p.conn.gone:
		return true
	default:
		return false
	}
}

// closeTime is how long a browser may take to close by itself.
const closeTime = 2 * time.Second

// end closes the browser, and ends it with everything that it has started.
func (p *process) end() {
	p.ends.Do(func() {
		if p.program == nil {
			p.own.close()
			return
		}
		if p.conn != nil {
			p.conn.tell("", "Browser.close", struct{}{})
			select {
			case <-p.program.Done():
			case <-time.After(closeTime):
			}
		}
		p.program.Kill()
		p.own.close()
	})
}

// ownProxy is the way out where no sandbox has one.
type ownProxy struct {
	proxy                 *egress.Proxy
	gate                  *egress.Gate
	listener              net.Listener
	address, user, secret string
}

func newOwnProxy(guard *outbound.Guard) (*ownProxy, error) {
	proxy, err := egress.New(egress.Options{})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, proxy.Close())
	}
	o := &ownProxy{proxy: proxy, gate: proxy.Gate(), listener: l, address: l.Addr().String()}
	go func() { _ = o.gate.Serve(l) }() // until it is closed
	port := l.Addr().(*net.TCPAddr).Port
	pass := o.gate.Pass(true, nil)
	pass.Use(guard)
	for _, variable := range pass.Env(port) {
		if text, ok := strings.CutPrefix(variable, "HTTP_PROXY="); ok {
			u, err := url.Parse(text)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("the proxy of the browser: %w", err), l.Close(), proxy.Close())
			}
			o.user = u.User.Username()
			o.secret, _ = u.User.Password()
		}
	}
	return o, nil
}

func (o *ownProxy) close() {
	if o != nil {
		o.gate.Close()
		_ = o.listener.Close()
		_ = o.proxy.Close()
	}
}
