package view

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"toolcrib/tools/internal/text/textfile"

	"toolcrib/tools/internal/picture"
)

// bookLine is a line of a rendered notebook. For an image the text is its media type.
type bookLine struct {
	text    string
	picture json.RawMessage // its base64, nil for text
}

// bookPage is a notebook as lines: a head for each cell, its source, its outputs,
// each with a head.
type bookPage struct{ lines []bookLine }

func renderBook(book *notebook) bookPage {
	var p bookPage
	for i, c := range book.Cells {
		head := fmt.Sprintf("--- cell %d, %s", i+1, c.Type)
		if c.Count != nil {
			head += fmt.Sprintf(", run %d", *c.Count)
		}
		p.add(head + " ---")
		p.text(string(c.Source))
		for _, name := range slices.Sorted(maps.Keys(c.Attachments)) {
			p.add("--- attachment " + textfile.Path(name) + " ---")
			p.bundle(c.Attachments[name])
		}
		for _, o := range c.Outputs {
			p.output(o)
		}
	}
	return p
}

func (p *bookPage) output(o output) {
	switch o.Type {
	case "stream":
		p.add("--- output, " + o.Name + " ---")
		p.text(withoutANSI(string(o.Text)))
	case "error":
		p.add("--- output, error ---")
		trace := withoutANSI(strings.Join(o.Traceback, "\n"))
		if summary := o.ErrorName + ": " + o.Value; !strings.Contains(trace, summary) {
			p.text(summary)
		}
		p.text(trace)
	default:
		p.add("--- output ---")
		p.bundle(o.Data)
	}
}

// bundle shows the best part of a bundle: an image with its text, or else one text.
func (p *bookPage) bundle(b mimeBundle) {
	shown := false
	for _, kind := range []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff"} {
		if raw, ok := b[kind]; ok {
			p.lines = append(p.lines, bookLine{text: kind, picture: raw})
			shown = true
			break
		}
	}
	for _, kind := range []string{"text/markdown", "text/latex", "text/plain", "image/svg+xml", "text/html"} {
		raw, ok := b[kind]
		if !ok || shown && kind != "text/plain" {
			continue
		}
		var text multiline
		if err := json.Unmarshal(raw, &text); err != nil {
			continue
		}
		p.text(withoutANSI(string(text)))
		return
	}
	if shown {
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(b)) {
		if strings.HasSuffix(kind, "json") {
			var compact bytes.Buffer
			if err := json.Compact(&compact, b[kind]); err == nil {
				p.text(compact.String())
				return
			}
		}
	}
	p.add(fmt.Sprintf("[not shown: %s]", textfile.Visible(strings.Join(slices.Sorted(maps.Keys(b)), ", "))))
}

func (p *bookPage) add(line string) { p.lines = append(p.lines, bookLine{text: line}) }

// text adds the lines of a text. A line that is too long to be shown is split into several, so
// that nothing is lost.
func (p *bookPage) text(text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		for len(line) > LineChars {
			end := LineChars
			for !utf8.RuneStart(line[end]) {
				end--
			}
			p.add(line[:end] + "…")
			line = line[end:]
		}
		p.add(line)
	}
}

// ansi is the escape sequences of terminals: control sequences and commands.
var ansi = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])`)
})

// withoutANSI removes colours, and of lines that a program overwrote, such as progress, it
// keeps the last text.
func withoutANSI(text string) string {
	if strings.Contains(text, "\x1b") {
		text = ansi().ReplaceAllString(text, "")
	}
	if !strings.Contains(text, "\r") {
		return text
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}

// decodePicture returns the bytes of an image that is base64 in JSON.
func decodePicture(raw json.RawMessage) ([]byte, error) {
	var text multiline
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, picture.Errorf("it is no text")
	}
	clean := strings.Join(strings.Fields(string(text)), "")
	data, err := base64.StdEncoding.DecodeString(clean)
	if err != nil {
		return nil, picture.Errorf("it is not base64")
	}
	return data, nil
}
