package match

import "golang.org/x/sys/cpu"

// index returns the first place at or after from where the text of p starts, -1
// if there is none.
func (p *pair) index(text []byte, from int) int {
	n := len(text) - p.length + 1
	if n < vector || from >= n || !cpu.X86.HasAVX2 {
		return p.indexPortable(text, from)
	}
	return pairAVX2(&text[0], from, n, &p.probes[0], len(p.probes))
}

// pairAVX2 returns the first i with from <= i < n where all probes are found in text,
// or -1. It reads text up to n plus the largest offset. Needs n >= vector, from <= n
// and two probes.
//
//go:noescape
func pairAVX2(text *byte, from, n int, probes *probe, count int) int
