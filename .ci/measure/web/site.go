package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// public is the address of the names of the site.
var public = netip.MustParseAddr("93.184.216.34")

// site answers for every host of the network.
type site struct {
	mu      sync.Mutex
	reached []string // addresses that are not public
	turns   map[string]int
	day     string // how services do
	version atomic.Int64
	bombs   map[string][]byte
}

// openSite listens at all addresses: for names, for pages and for services. Its bombs have so many
// megabytes.
func openSite(ctx context.Context, megabytes int) (*site, error) {
	s := &site{turns: map[string]int{}, bombs: map[string][]byte{}}
	for name, open := range map[string]func(io.Writer) (io.WriteCloser, error){
		"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"br":   func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, 4), nil },
		"zstd": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	} {
		var b bytes.Buffer
		w, err := open(&b)
		if err != nil {
			return nil, err
		}
		block := make([]byte, 1<<20)
		for range megabytes {
			if _, err := w.Write(block); err != nil {
				return nil, err
			}
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		s.bombs[name] = b.Bytes()
	}
	names, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", ":53")
	if err != nil {
		return nil, err
	}
	go s.names(names)
	for port, handler := range map[string]http.HandlerFunc{"80": s.page, "8080": s.page, "8081": s.service} {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+port)
		if err != nil {
			return nil, err
		}
		server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
		if port != "8081" {
			server.ConnState = s.note
		}
		go func() { _ = server.Serve(l) }()
	}
	return s, nil
}

// note notes connections to what must not be reached.
func (s *site) note(c net.Conn, state http.ConnState) {
	if state != http.StateNew {
		return
	}
	at, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err == nil && at.Addr().Unmap() != public {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reached = append(s.reached, at.String())
	}
}

// names answers questions for addresses. A name such as turns-10-0-0-1.test is public when it is
// asked for first, and then has the address in it; at-10-0-0-1.test always has that.
func (s *site) names(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		q := buf[:n]
		if n < 17 {
			continue
		}
		var labels []string
		i := 12
		for i < n && q[i] != 0 {
			labels = append(labels, string(q[i+1:i+1+int(q[i])]))
			i += 1 + int(q[i])
		}
		end := i + 5
		kind := binary.BigEndian.Uint16(q[i+1:])
		name := strings.ToLower(strings.Join(labels, "."))
		reply := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end]...)
		if kind == 1 {
			reply[7] = 1
			a := s.addressOf(name).As4()
			reply = append(append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), a[:]...)
		}
		_, _ = conn.WriteTo(reply, from)
	}
}

func (s *site) addressOf(name string) netip.Addr {
	label, _, _ := strings.Cut(name, ".")
	kind, text, ok := strings.Cut(label, "-")
	a, err := netip.ParseAddr(strings.ReplaceAll(text, "-", "."))
	if !ok || err != nil {
		return public
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns[name]++
	if kind == "turns" && s.turns[name] == 1 {
		return public
	}
	return a
}

// page serves the pages of every host.
func (s *site) page(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if to, ok := strings.CutPrefix(path, "/to/"); ok {
		http.Redirect(w, r, "http://"+to, http.StatusFound)
		return
	}
	if name, ok := strings.CutPrefix(path, "/hostile/"); ok {
		s.hostile(w, r, name)
		return
	}
	if path == "/restless" {
		v := s.version.Add(1)
		w.Header().Set("Content-Type", "text/html")
		for i := range 400 {
			fmt.Fprintf(w, "<p>Version %d has paragraph %d, which tells of kites and of their nests in tall trees.</p>", v, i)
		}
		return
	}
	if path == "/ways" {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, waysOut)
		return
	}
	for _, row := range table {
		if row.path == path {
			for name, value := range row.header {
				w.Header().Set(name, value)
			}
			w.WriteHeader(max(row.status, http.StatusOK))
			_, _ = io.WriteString(w, row.body)
			return
		}
	}
	http.NotFound(w, r)
}

// waysOut is a page that tries to reach what it must not.
const waysOut = `<!doctype html><img src="http://10.0.0.1/"><iframe src="http://192.168.0.1/"></iframe><iframe src="/to/127.0.0.1:8080/"></iframe>
<link rel=stylesheet href="http://169.254.169.254/"><p id=a></p><script>
for (const host of ["10.0.0.1", "127.0.0.1", "localhost", "[::1]", "at-10-0-0-1.test", "turns-10-0-0-1.test", "169.254.169.254"]) {
	fetch("http://" + host + "/", {mode: "no-cors"}).catch(() => {});
	navigator.sendBeacon("http://" + host + "/", "x");
	try { new WebSocket("ws://" + host + "/"); new EventSource("http://" + host + "/"); } catch (e) {}
}
const peer = new RTCPeerConnection({iceServers: [{urls: "turn:10.0.0.1:80?transport=tcp", username: "u", credential: "c"}]});
peer.createDataChannel("x"); peer.createOffer().then(o => peer.setLocalDescription(o));
document.getElementById("a").textContent = "the scripts have run";
</script>`

// hostile answers as servers that want to do harm.
func (s *site) hostile(w http.ResponseWriter, r *http.Request, name string) {
	flush := func() { _ = http.NewResponseController(w).Flush() } // an error shows at the next write
	w.Header().Set("Content-Type", "text/plain")
	switch name {
	case "loop":
		http.Redirect(w, r, "/hostile/loop", http.StatusFound)
	case "header":
		<-r.Context().Done()
	case "headers":
		for i := range 3000 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
		}
	case "drip":
		for r.Context().Err() == nil {
			fmt.Fprint(w, "x")
			flush()
			time.Sleep(200 * time.Millisecond)
		}
	case "endless", "10GB":
		if name == "10GB" {
			w.Header().Set("Content-Length", "10000000000")
		}
		block := bytes.Repeat([]byte("endless "), 8<<10)
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	case "short":
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "ten bytes.")
		flush()
		panic(http.ErrAbortHandler)
	case "charset":
		w.Header().Set("Content-Type", "text/plain; charset=utf-16")
		fmt.Fprint(w, strings.Repeat("caf\xc3\xa9 ", 100))
	default:
		w.Header().Set("Content-Encoding", name)
		_, _ = w.Write(s.bombs[name])
	}
}

// service answers as the services for pages do on one kind of day.
func (s *site) service(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	day := s.day
	s.mu.Unlock()
	const hit = `{"title":"A","name":"A","url":"https://a.test/","link":"https://a.test/","content":"x","snippet":"x","description":"x"}`
	w.Header().Set("Content-Type", "application/json")
	switch day {
	case "key":
		w.WriteHeader(http.StatusUnauthorized)
	case "many":
		w.WriteHeader(http.StatusTooManyRequests)
	case "down":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "html":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><title>Sign in</title>")
	case "half":
		fmt.Fprint(w, `{"type":"search","web":{"results":[`+hit+`,{"ti`)
	case "nothing":
	case "none":
		fmt.Fprint(w, `{"type":"search","web":{"results":[]},"results":[],"organic":[]}`)
	case "one slow":
		if strings.HasPrefix(r.URL.Path, "/tavily") {
			<-r.Context().Done()
			return
		}
		fallthrough
	default:
		fmt.Fprint(w, `{"type":"search","web":{"results":[`+hit+`]},"results":[`+hit+`],"organic":[`+hit+`]}`)
	}
}
