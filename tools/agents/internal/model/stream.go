package model

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// Limits of an answer.
const (
	mostEvent  = 8 << 20
	mostAnswer = 64 << 20 // on the wire
)

// event is one of a stream of server-sent events.
type event struct {
	name string
	data []byte
}

var errEvent = errors.New("an event of the answer is larger than 8 MiB")

// events reads server-sent events.
type events struct{ lines *bufio.Scanner }

func newEvents(r io.Reader) *events {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 16<<10), mostEvent)
	return &events{lines}
}

// next returns the next event that has data, or io.EOF after the last. What the end of the
// stream cuts off is no event.
func (e *events) next() (event, error) {
	var next event
	has := false
	for e.lines.Scan() {
		line := e.lines.Bytes()
		if len(line) == 0 {
			if has {
				return next, nil
			}
			next = event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			next.name = string(value)
		case "data":
			if has {
				next.data = append(next.data, '\n')
			}
			next.data, has = append(next.data, value...), true
		}
		if len(next.data) > mostEvent {
			return event{}, errEvent
		}
	}
	switch err := e.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return event{}, errEvent
	case err != nil:
		return event{}, err
	case has: // some services do not end their last event
		return next, nil
	}
	return event{}, io.EOF
}

// form is what the body of an answer is.
type form int

const (
	stream form = iota
	object      // JSON, though a stream was asked for
	page        // HTML, or anything else
)

// formOf looks at the beginning of a body; the type that its header says decides nothing else
// than between streams and other text.
func formOf(contentType string, body *bufio.Reader) form {
	for n := 1; n <= 512; n++ {
		head, err := body.Peek(n)
		if len(head) < n || err != nil {
			break
		}
		switch c := head[n-1]; c {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf: // and a byte order mark
			continue
		case '{', '[':
			return object
		case '<':
			return page
		case ':':
			return stream
		}
		break
	}
	kind := strings.ToLower(contentType)
	if strings.HasPrefix(kind, "text/html") {
		return page
	}
	return stream
}

// partial is what has arrived of a turn.
type partial interface {
	// event takes the next event of a stream. It reports whether that was news of the model,
	// and whether it was the last.
	event(e event) (news, last bool, err error)
	// whole takes an answer that came as one object.
	whole(body []byte) error
	// turn returns what has arrived. It fails if the stream broke off before the turn's end.
	turn() (*Turn, error)
	// arrived returns how much of the answer there is, in bytes, and its use if the service has
	// said so.
	arrived() (int, Use)
}
