package model

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"toolcrib/tools/outbound"
)

// Limits of asking.
const (
	mostTries  = 4 // of an endpoint for one turn
	firstPause = time.Second
	mostPause  = time.Minute // that a service may ask for
	mostQuiet  = 2 * time.Minute
	mostError  = 64 << 10
	// A token has fewer bytes than this: more of an answer than its limit allows is no answer.
	tokenBytes = 32
)

// Client asks models.
type Client struct {
	// Do sends a request and returns its answer when the headers are there.
	Do func(context.Context, outbound.Request) (*outbound.Response, error)
	// Sample asks the model of the client by the params of sampling/createMessage; nil = it
	// cannot be asked.
	Sample func(ctx context.Context, params any) (json.RawMessage, error)
}

// Turn asks the first endpoint for the next turn of a conversation, and the next ones if it
// cannot answer. Reports go to on, from one goroutine; a turn that breaks off is dropped and
// asked for again, since nothing of it has had an effect. The error is an *Error, or the
// context's. The bill is that of all attempts, also with an error.
func (c *Client) Turn(ctx context.Context, endpoints []Endpoint, r Request, on func(Event)) (*Turn, Bill, error) {
	if on == nil {
		on = func(Event) {}
	}
	var spent Bill
	var notes []string
	var last error
	for i := range endpoints {
		turn, use, err := c.persist(ctx, &endpoints[i], r, on, &notes)
		spent = Bill{spent.Add(use), spent.Cost + endpoints[i].Cost(use)}
		if err == nil {
			turn.Notes = notes
			return turn, spent, nil
		}
		last = err
		if e, ok := errors.AsType[*Error](err); !ok || !e.other() {
			break
		}
		if i+1 < len(endpoints) {
			notes = append(notes, fmt.Sprintf("%v; went on with %s", err, &endpoints[i+1]))
		}
	}
	return nil, spent, last
}

// persist asks one endpoint, again where that may help.
func (c *Client) persist(ctx context.Context, e *Endpoint, r Request, on func(Event), notes *[]string) (*Turn, Use, error) {
	var spent Use
	pause := firstPause
	for try := 1; ; try++ {
		turn, use, err := c.once(ctx, e, r, on)
		spent = spent.Add(use)
		if err == nil {
			return turn, spent, nil
		}
		if ctx.Err() != nil {
			return nil, spent, context.Cause(ctx)
		}
		failure, ok := errors.AsType[*Error](err)
		if !ok {
			failure = unreached(err)
		}
		failure.Endpoint = e.String()
		delay := failure.Wait
		if delay == 0 {
			delay, pause = pause, 2*pause
		}
		if !failure.again() || try == mostTries || delay > mostPause {
			if delay > mostPause {
				failure.Say += fmt.Sprintf("; it asks to wait %s", delay.Round(time.Second))
			}
			return nil, spent, failure
		}
		on(Event{Dropped: failure.Error()})
		*notes = append(*notes, fmt.Sprintf("%v; asked again after %s", failure, delay.Round(time.Millisecond)))
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, spent, context.Cause(ctx)
		}
	}
}

// once sends the request one time.
func (c *Client) once(ctx context.Context, e *Endpoint, r Request, on func(Event)) (*Turn, Use, error) {
	if e.OfClient() {
		return c.sample(ctx, e, r, on)
	}
	p := e.provider()
	encode, path := chatBody, "/chat/completions"
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	if e.Key != "" {
		header.Set("Authorization", "Bearer "+e.Key)
	}
	var arriving partial = &chatPartial{from: e.String(), number: len(r.Messages), on: on}
	if p.dialect == Messages {
		encode, path = messagesBody, "/messages"
		header.Set("Anthropic-Version", "2023-06-01")
		header.Del("Authorization")
		if e.Key != "" {
			header.Set("X-Api-Key", e.Key)
		}
		arriving = &messagesPartial{from: e.String(), number: len(r.Messages), on: on}
	}
	body, err := encode(e, r)
	if err != nil {
		return nil, Use{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(mostQuiet, func() {
		cancel(&Error{Reason: Silent, Say: fmt.Sprintf("nothing came for %s", mostQuiet)})
	})
	defer quiet.Stop()
	res, err := c.Do(ctx, outbound.Request{
		Method: http.MethodPost, URL: e.Base() + path, Header: header, Body: body,
		MaxBytes: mostAnswer, Timeout: -1, Redirects: -1, Tries: 1,
	})
	if err != nil {
		return nil, Use{}, cause(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.Status != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, mostError))
		return nil, Use{}, refusal(res.Status, res.Header, text, time.Now())
	}
	_, limit := e.Tokens()
	if r.MaxOutput > 0 {
		limit = r.MaxOutput
	}
	turn, err := read(res, arriving, limit, func() { quiet.Reset(mostQuiet) })
	if err != nil {
		return nil, dropped(arriving, body), cause(ctx, err)
	}
	if turn.Use.Total() == 0 {
		turn.Use = estimated(arriving, body)
	}
	return turn, turn.Use, nil
}

// cause returns why the context of a request ended, if it has, and otherwise the error.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// read reads an answer to its end.
func read(res *outbound.Response, arriving partial, limit int, news func()) (*Turn, error) {
	body := bufio.NewReader(res.Body)
	switch formOf(res.Header.Get("Content-Type"), body) {
	case object:
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, &Error{Reason: Broken, Say: err.Error()}
		}
		if err := arriving.whole(text); err != nil {
			return nil, err
		}
		return arriving.turn()
	case page:
		text, _ := io.ReadAll(io.LimitReader(body, mostError))
		return nil, &Error{Reason: Format, Status: res.Status, Say: "not a model's answer, but: " + short(text)}
	}
	stream := newEvents(body)
	for {
		e, err := stream.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &Error{Reason: Broken, Say: err.Error()}
		}
		fresh, last, err := arriving.event(e)
		if err != nil {
			return nil, err
		}
		if last {
			break
		}
		if fresh {
			news()
		}
		if size, _ := arriving.arrived(); size > tokenBytes*limit {
			return nil, &Error{Reason: Format, Say: fmt.Sprintf("the answer does not end: %d bytes at a limit of %d tokens", size, limit)}
		}
	}
	return arriving.turn()
}

// dropped returns the use of an answer that broke off.
func dropped(arriving partial, body []byte) Use {
	size, use := arriving.arrived()
	if size == 0 && use.Total() == 0 {
		return Use{}
	}
	if use.Total() > 0 && use.Out >= size/tokenBytes {
		return use
	}
	return estimated(arriving, body)
}

// estimated returns about how many tokens a request and its answer have.
func estimated(arriving partial, body []byte) Use {
	size, use := arriving.arrived()
	if use.Total() == 0 {
		use.In = Estimate(string(body))
	}
	use.Out = max(use.Out, (size+3)/4)
	use.Estimated = true
	return use
}
