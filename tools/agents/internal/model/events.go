package model

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// event is one server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html).
type event struct {
	name string
	data []byte
}

// events reads a stream of events.
type events struct{ lines *bufio.Reader }

func newEvents(r io.Reader) *events {
	lines := bufio.NewReaderSize(r, 64<<10)
	if mark, _ := lines.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = lines.Discard(3) // they are there
	}
	return &events{lines}
}

// next returns the next event with data, io.EOF after the last one. An event that the end of the
// stream cuts counts if its line is whole.
func (e *events) next() (event, error) {
	var ev event
	has := false
	for {
		line, err := e.line()
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			if errors.Is(err, io.EOF) && has {
				return ev, nil
			}
			return event{}, err
		}
		if len(line) == 0 {
			if has {
				return ev, nil
			}
			ev = event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			ev.name = string(value)
		case "data":
			if has {
				ev.data = append(ev.data, '\n')
			}
			ev.data, has = append(ev.data, value...), true
		}
	}
}

// line returns a line without its end, which may be LF, CR LF or that of the stream.
func (e *events) line() ([]byte, error) {
	line, err := e.lines.ReadBytes('\n') // the body is bounded
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), err
}
