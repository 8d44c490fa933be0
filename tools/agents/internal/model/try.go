package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
	"toolcrib/workspace/redact"
)

// Client asks models. Several goroutines may call its methods.
type Client struct {
	// Out makes the requests.
	Out *outbound.Client
	// Endpoints are asked in their order: the next one if one does not answer.
	Endpoints []Endpoint
	// Pause waits; nil = by the clock.
	Pause func(ctx context.Context, d time.Duration) error
}

const (
	maxTries   = 4 // of one endpoint
	firstPause = 500 * time.Millisecond
	mostPause  = time.Minute // that a provider may ask for
	// bytesPerToken is for what a provider has not counted.
	bytesPerToken = 4
	maxErrorBody  = 64 << 10
)

// Turn has a model continue a conversation. heard gets what comes in, while it does; nil =
// nobody listens. A turn that breaks off is dropped and asked for again, since nothing of it has
// had an effect. The Usage of the result also counts what was dropped, and it is there with an
// error too.
func (c *Client) Turn(ctx context.Context, r Request, heard func(Delta)) (Turn, error) {
	if err := r.check(); err != nil {
		return Turn{}, err
	}
	if len(c.Endpoints) == 0 {
		return Turn{}, tools.Errorf(tools.Unavailable, "no model is configured")
	}
	if heard == nil {
		heard = func(Delta) {}
	}
	var sum Turn
	var err error
	for i := range c.Endpoints {
		e := &c.Endpoints[i]
		if i > 0 {
			sum.Notes = append(sum.Notes, fmt.Sprintf("%s does not answer; %s is asked instead", c.Endpoints[i-1].Name, e.Name))
		}
		var next bool
		if next, err = c.persist(ctx, e, &r, &sum, heard); !next {
			break
		}
	}
	return sum, err
}

// failure is why a try gave no turn.
type failure struct {
	is    *tools.Error
	again bool          // the same endpoint may answer
	next  bool          // another may
	wait  time.Duration // that the provider asks for; less than 0 = it does not say
}

func (f *failure) Error() string { return f.is.Error() }
func (f *failure) Unwrap() error { return f.is }

// dropped is the failure of a turn that broke off.
func dropped(why string) error {
	return &failure{tools.Errorf(tools.Unavailable, "%s", why), true, true, -1}
}

// tooMuch is the failure of a turn without an end.
func tooMuch(what string) error {
	return &failure{is: tools.Errorf(tools.TooLarge, "the model sends more %s than a turn may have", what)}
}

// persist asks an endpoint until it gives a turn, and reports whether the next may be asked.
func (c *Client) persist(ctx context.Context, e *Endpoint, r *Request, sum *Turn, heard func(Delta)) (next bool, err error) {
	pause := firstPause
	for try := 1; ; try++ {
		said, err := c.once(ctx, e, r, heard)
		said.count(e, sum, err == nil)
		if err == nil {
			sum.Blocks, sum.End, sum.Endpoint = said.blocks, said.end, e.Name
			return false, nil
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		f, ok := errors.AsType[*failure](err)
		if !ok {
			return false, err
		}
		if said.told {
			heard(Delta{Dropped: true})
		}
		wait := f.wait
		if wait < 0 {
			wait = pause/2 + rand.N(pause/2)
			pause *= 2
		}
		if !f.again || try == maxTries || wait > mostPause {
			named := *f.is
			named.Msg = e.Name + ": " + named.Msg
			return f.next, &named
		}
		sum.Notes = append(sum.Notes, fmt.Sprintf("%s: %s; asked again after %s", e.Name, f.is.Msg, wait.Round(time.Millisecond)))
		if err := c.pause(ctx, wait); err != nil {
			return false, err
		}
	}
}

func (c *Client) pause(ctx context.Context, d time.Duration) error {
	if c.Pause != nil {
		return c.Pause(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reader puts a turn together from events, or from an answer that is no stream.
type reader interface {
	take(event) error
	whole(data []byte) error
	turn() ([]Block, error)
}

// once asks an endpoint once.
func (c *Client) once(ctx context.Context, e *Endpoint, r *Request, heard func(Delta)) (*said, error) {
	request, path, err := e.request(r)
	none := &said{}
	if err != nil {
		return none, err
	}
	request.URL = strings.TrimSuffix(e.URL, "/") + path
	idle := e.Idle
	if idle == 0 {
		idle = usualIdle
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := errors.New("silence")
	watch := time.AfterFunc(idle, func() { cancel(silence) })
	defer watch.Stop()
	res, err := c.Out.Do(ctx, request)
	if err != nil {
		if errors.Is(context.Cause(ctx), silence) {
			return none, dropped(fmt.Sprintf("no answer within %s", idle))
		}
		if code := tools.AsError(err).Code; code == tools.Unavailable || code == tools.Timeout {
			return none, dropped(tools.AsError(err).Msg)
		}
		return none, &failure{is: tools.AsError(err), next: true}
	}
	defer res.Body.Close()
	if res.Status != http.StatusOK {
		return none, e.refusal(res, request.Header)
	}
	into := &said{endpoint: e.Name, heard: heard, sent: len(request.Body)}
	var turn reader
	if e.Dialect == Messages {
		turn = &messagesReader{said: *into}
	} else {
		turn = &chatReader{said: *into}
	}
	err = listen(res, turn, func() { watch.Reset(idle) })
	if errors.Is(context.Cause(ctx), silence) {
		err = dropped(fmt.Sprintf("nothing came for %s", idle))
	}
	out := saidOf(turn)
	if err != nil {
		return out, err
	}
	blocks, err := turn.turn()
	out = saidOf(turn)
	out.blocks = blocks
	return out, err
}

func saidOf(r reader) *said {
	switch r := r.(type) {
	case *messagesReader:
		return &r.said
	case *chatReader:
		return &r.said
	}
	return &said{}
}

// request writes the request of a turn.
func (e *Endpoint) request(r *Request) (request outbound.Request, path string, err error) {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream, application/json"}, "Accept-Encoding": {"identity"}}
	key := ""
	if e.Key != nil {
		if key, err = e.Key(); err != nil {
			return request, "", &failure{is: tools.Errorf(tools.Unavailable, "its key cannot be read: %v", err), next: true}
		}
	}
	request = outbound.Request{Method: http.MethodPost, Header: header, MaxBytes: maxStream, Timeout: -1, Redirects: -1, Tries: 1}
	if e.Dialect == Messages {
		header.Set("Anthropic-Version", messagesVersion)
		if key != "" {
			header.Set("X-Api-Key", key)
		}
		request.Body, err = e.messagesBody(r)
		return request, "/v1/messages", err
	}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	request.Body, err = e.chatBody(r)
	return request, "/chat/completions", err
}

// refusal reads an answer with an error status. The key is taken out of what the provider says.
func (e *Endpoint) refusal(res *outbound.Response, sent http.Header) error {
	data, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // what there is of it
	said := saidError(data)
	if strings.HasPrefix(strings.TrimSpace(said), "<") {
		said = "a page of HTML"
	}
	for _, secret := range []string{sent.Get("X-Api-Key"), strings.TrimPrefix(sent.Get("Authorization"), "Bearer ")} {
		if secret != "" {
			said = strings.ReplaceAll(said, secret, "[key]")
		}
	}
	said = redact.New(nil).String(said)
	f := &failure{is: tools.Errorf(tools.Unavailable, "status %d: %s", res.Status, said), wait: waitOf(res.Header, time.Now())}
	switch {
	case res.Status == http.StatusRequestTimeout, res.Status == http.StatusConflict, res.Status == http.StatusTooManyRequests, res.Status >= 500:
		f.again, f.next = true, true
	case res.Status == http.StatusUnauthorized, res.Status == http.StatusForbidden, res.Status == http.StatusPaymentRequired, res.Status == http.StatusNotFound:
		f.is.Code, f.next = tools.Denied, true // of this endpoint; another has a key of its own
	case res.Status >= 300 && res.Status < 400:
		f.is.Msg, f.next = fmt.Sprintf("status %d: it redirects to %s; give that address", res.Status, res.Header.Get("Location")), true
	case res.Status == http.StatusRequestEntityTooLarge:
		f.is.Code = tools.TooLarge
	default: // every other would refuse it too
		f.is.Code = tools.InvalidArgument
	}
	return f
}

// waitOf reads how long a provider asks to wait; less than 0 = it does not say, or nonsense.
func waitOf(header http.Header, now time.Time) time.Duration {
	if text := header.Get("Retry-After-Ms"); text != "" {
		if ms, err := strconv.ParseFloat(text, 64); err == nil && ms >= 0 && ms < 1e9 {
			return time.Duration(ms * float64(time.Millisecond))
		}
	}
	if s, err := strconv.ParseFloat(header.Get("Retry-After"), 64); err == nil { // some write fractions
		if s >= 0 && s < 1e6 {
			return time.Duration(s * float64(time.Second))
		}
		return -1
	}
	return outbound.RetryAfter(header, now)
}

// listen reads the answer; alive is called with every piece.
func listen(res *outbound.Response, turn reader, alive func()) error {
	kind := strings.ToLower(res.Header.Get("Content-Type"))
	body := bufferedHead(res.Body)
	switch {
	case strings.HasPrefix(kind, "text/event-stream"):
	case strings.Contains(kind, "json") && !body.isEvents():
		data, err := io.ReadAll(body)
		if err != nil {
			return broken(err)
		}
		return turn.whole(data)
	case !body.isEvents():
		return &failure{is: tools.Errorf(tools.Unavailable, "it answers with %q and not as the API of a model does", kind).WithHint("look at the url of the endpoint in the configuration"), next: true}
	}
	stream := newEvents(body)
	for {
		ev, err := stream.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return broken(err)
		}
		alive()
		if err := turn.take(ev); err != nil {
			return err
		}
	}
}

// broken is the failure of a body that cannot be read to its end.
func broken(err error) error {
	if e := tools.AsError(err); e.Code == tools.TooLarge {
		return tooMuch("bytes")
	}
	return dropped("the connection broke: " + tools.AsError(err).Msg)
}

// head is a body whose beginning was looked at.
type head struct {
	io.Reader
	begin []byte
}

func bufferedHead(r io.Reader) *head {
	begin := make([]byte, 64)
	n, _ := io.ReadAtLeast(r, begin, 1) // an error comes again
	return &head{io.MultiReader(bytes.NewReader(begin[:n]), r), begin[:n]}
}

// isEvents reports whether a body begins as events do, whatever its type says.
func (h *head) isEvents() bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(h.begin, []byte("\xef\xbb\xbf")), "\r\n")
	return bytes.HasPrefix(text, []byte("data:")) || bytes.HasPrefix(text, []byte("event:")) || bytes.HasPrefix(text, []byte(":"))
}

// said is what has come of a turn.
type said struct {
	endpoint string
	heard    func(Delta)
	sent     int // bytes of the request

	blocks  []Block
	end     End
	usage   tools.Usage
	counted bool // the endpoint has said what it took
	notes   []string
	size    int // bytes of what was said
	told    bool
}

func (s *said) note(text string) { s.notes = append(s.notes, text) }

func (s *said) tell(d Delta) {
	s.told = true
	s.heard(d)
}

// weigh counts bytes of what the model says.
func (s *said) weigh(bytes int) error {
	if s.size += bytes; s.size > maxSaid {
		return tooMuch("text")
	}
	return nil
}

// add adds to the last block, or begins one of another kind.
func (s *said) add(kind Kind, text string) error {
	if text == "" {
		return nil
	}
	if n := len(s.blocks); n == 0 || s.blocks[n-1].Kind != kind {
		s.blocks = append(s.blocks, Block{Kind: kind})
		if kind == Thinking {
			s.blocks[n].Endpoint = s.endpoint
		}
	}
	s.blocks[len(s.blocks)-1].Text += text
	s.tell(Delta{Kind: kind, Text: text})
	return s.weigh(len(text))
}

// count adds what a try has taken to the sum. What the endpoint has not counted is estimated,
// also of a try that broke off after the model had begun.
func (s *said) count(e *Endpoint, sum *Turn, whole bool) {
	if !whole && !s.counted && s.size == 0 {
		return
	}
	u := s.usage
	if !s.counted {
		u = tools.Usage{In: uint64(s.sent / bytesPerToken)}
	}
	if guess := uint64(s.size / bytesPerToken); !s.counted || u.Out == 0 && guess > 0 {
		u.Out, sum.Estimated = guess, true
	}
	u.Turns, u.Model = 1, e.Model
	u.Cost = e.cost(u)
	model := sum.Usage.Model
	sum.Usage = u.Plus(sum.Usage)
	if model != "" && model != e.Model {
		sum.Usage.Model = e.Model // the last that was asked
	}
	sum.Notes = append(sum.Notes, s.notes...)
}
