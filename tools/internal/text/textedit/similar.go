package textedit

import (
	"fmt"
	"math/bits"
	"strings"

	"toolcrib/tools/internal/text/diff"
)

// signature is the set of character pairs of a line, by a hash.
type signature [4]uint64

func sign(line string) (sig signature, n int) {
	var last byte
	for i := range len(line) {
		c := line[i]
		if c <= ' ' {
			continue
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		h := (uint32(last)*251 + uint32(c)) * 2654435761 >> 24
		sig[h>>6] |= 1 << (h & 63)
		last = c
	}
	return sig, sig.size()
}

func (a signature) size() int {
	return bits.OnesCount64(a[0]) + bits.OnesCount64(a[1]) + bits.OnesCount64(a[2]) + bits.OnesCount64(a[3])
}

func (a signature) common(b signature) int {
	return signature{a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3]}.size()
}

// similar adds the lines that have most in common with the given ones, in their order, or
// says that there are none.
func (s *session) similar(m *Mismatch, given []string, total int) {
	first, ok := s.mostSimilar(given, min(total, len(s.lines)))
	if !ok {
		m.Msg += "; nothing in the file is like it"
		return
	}
	// Some more lines, as the given text may lack lines of the file.
	start := max(first, 0)
	end := min(first+len(given)+len(given)/2+2, len(s.lines))
	lines := s.texts(start, end-start)
	skip, n := s.trimmed(lines, given)
	lines, start = lines[skip:skip+n], start+skip
	m.Msg += fmt.Sprintf("; closest %s %s", areLines(n), linesWord(start, n))
	if len(lines) == len(given) {
		if reasons := s.reasons(strings.Join(lines, "\n"), strings.Join(given, "\n")); len(reasons) > 0 {
			m.Msg += ", not only by words but in " + s.differences(strings.Join(lines, "\n"), strings.Join(given, "\n"))
		}
	}
	m.Detail = s.sideBySide(lines, start, given)
}

func areLines(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// trimmed returns the lines from the first to the last that has a counterpart.
func (s *session) trimmed(lines, given []string) (skip, n int) {
	changes := diff.Lines(keys(given), keys(lines))
	start, end := 0, len(lines)
	for _, c := range changes {
		if c.B0 == 0 {
			start = max(c.B1-(c.A1-c.A0), 0)
		}
		if c.B1 == len(lines) {
			end = min(c.B0+(c.A1-c.A0), len(lines))
		}
	}
	if start >= end {
		return 0, min(len(lines), len(given))
	}
	return start, end - start
}

func keys(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = squash(l, true).text
	}
	return out
}

// mostSimilar returns the first line, from 0, of the most similar region, which may be
// before the file's.
func (s *session) mostSimilar(given []string, total int) (int, bool) {
	step := max(total*len(given)/mostPairs, 1)
	type wanted struct {
		index, size int
		signature
		weight float32
	}
	var want []wanted
	var whole float32
	for i := 0; i < len(given); i += step {
		if sig, n := sign(given[i]); n > 0 {
			w := wanted{i, n, sig, float32(min(n, 40))}
			want = append(want, w)
			whole += w.weight
		}
	}
	votes := make([]float32, total+len(given))
	for i, l := range s.lines[:total] {
		sig, n := sign(l.text)
		if n == 0 {
			continue
		}
		for _, w := range want {
			common := sig.common(w.signature)
			// A line that contains the given one and more is similar too.
			score := max(2*float32(common)/float32(n+w.size), 0.8*float32(common)/float32(w.size)*min(1, 96/float32(n)))
			if score >= 0.5 {
				votes[i-w.index+len(given)-1] += score * w.weight
			}
		}
	}
	best := 0
	for i, v := range votes {
		if v > votes[best] {
			best = i
		}
	}
	floor := float32(0.4)
	if len(want) == 1 { // nothing around it shows that it is this line
		floor = 0.6
	}
	return best - len(given) + 1, len(votes) > 0 && whole > 0 && votes[best] >= floor*whole
}
