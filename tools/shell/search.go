package shell

import (
	"bytes"
	"regexp"
	"strings"

	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/screen"
)

// Of the search of an output.
const (
	searched = 256 << 10 // bytes at a time
	overlap  = 4 << 10   // of them, those that are looked at again
)

// search looks for a text in an output that grows.
type search struct {
	log   *jobs.Log
	until *regexp.Regexp
	at    int64 // where it goes on
}

// next searches what has come, and returns the line that matches, "" for none.
func (s *search) next() string {
	if s.until == nil {
		return ""
	}
	for {
		raw, from, err := s.log.Read(s.at, searched)
		if err != nil || len(raw) == 0 {
			return ""
		}
		text := screen.Clean(raw)
		if at := s.until.FindStringIndex(text); at != nil {
			begin := strings.LastIndexByte(text[:at[0]], '\n') + 1
			line, _, _ := strings.Cut(text[begin:], "\n")
			return brief(line)
		}
		end := from + int64(len(raw))
		// The line that is not complete is looked at again.
		again := len(raw) - bytes.LastIndexByte(raw, '\n') - 1
		s.at = end - int64(min(again, overlap))
		if len(raw) < searched {
			return ""
		}
	}
}
