package edits

import (
	"strings"
)

// chooseTexts takes real files of each kind there is, a few of each, and converts
// others to the kinds that are lacking.
func chooseTexts(found []realText, want int) []realText {
	type kind struct {
		encoding, ending string
		open             bool
	}
	of := map[kind][]realText{}
	var beyond []string // texts in all sorts of letters
	seen := map[string]bool{}
	for _, t := range found {
		if seen[string(t.data)] {
			continue
		}
		seen[string(t.data)] = true
		k := kind{t.encoding.name, t.ending, t.open}
		of[k] = append(of[k], t)
		if text, ok := t.encoding.decode(t.data); ok && t.encoding.name != "ascii" {
			beyond = append(beyond, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
		}
	}
	encodings := textEncodings()
	var chosen []realText
	for round := 0; len(chosen) < want && round < 40; round++ {
		if round == 1 { // each kind is there: real files before more that are converted
			for _, texts := range of {
				chosen = append(chosen, texts[:min(len(texts), want/40)]...)
			}
		}
		for _, e := range encodings {
			for i, ending := range []string{"LF", "CRLF", "mixed", "CR"} {
				if i == 3 && round%4 != 0 { // rare
					continue
				}
				k := kind{e.name, ending, (round+i)%2 == 1}
				if len(of[k]) > 0 {
					chosen = append(chosen, of[k][0])
					of[k] = of[k][1:]
				} else if t, ok := convert(beyond, e, ending, k.open, round); ok {
					chosen = append(chosen, t)
				}
			}
		}
	}
	return chosen[:min(len(chosen), want)]
}

// convert makes a text of an encoding from the lines that it can write of a text
// that has some beyond ASCII.
func convert(texts []string, e textEncoding, ending string, open bool, round int) (realText, bool) {
	for i := range texts {
		text := texts[(i+round*61)%len(texts)]
		var lines []string
		size, beyond := 0, 0
		for line := range strings.SplitSeq(text, "\n") {
			if strings.ContainsAny(line, "\u0085\u2028\u2029\x1a") || e.name == "ascii" && !isASCII(line) {
				continue
			}
			encoded, err := e.encode(line)
			if err != nil {
				continue
			}
			if back, ok := (textEncoding{charset: e.charset}).decode(encoded); !ok || back != line {
				continue
			}
			if !isASCII(line) {
				beyond++
			}
			if size += len(line); size > 30_000 {
				break
			}
			lines = append(lines, line)
		}
		if len(lines) < 10 || beyond < 2 && e.name != "ascii" {
			continue
		}
		text = withEnding(strings.TrimRight(strings.Join(lines, "\n"), "\n"), ending)
		if !open {
			text += map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r", "mixed": "\n"}[ending]
		}
		if t, ok := newText("converted", text, e, true); ok && t.ending == ending {
			return t, true
		}
	}
	return realText{}, false
}
