package redact

// automaton finds keywords, in any case, in one pass over a text: that of Aho and Corasick
// with its failures compiled away.
type automaton struct {
	class  [256]uint8 // of a byte; letters of both cases share one
	shift  uint       // next[state<<shift | class]
	next   []uint16
	quiet  uint16     // states from here on end keywords
	endsAt [][]uint16 // which, by state - quiet, by their index
}

// node is a state under construction.
type node struct {
	next map[byte]int
	fail int
	ends []uint16
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// newAutomaton returns an automaton for keywords in lower case.
func newAutomaton(keywords []string) *automaton {
	nodes, order := trie(keywords)
	a := &automaton{}
	classes := 1 // 0: bytes of no keyword
	for _, k := range keywords {
		for _, c := range []byte(k) {
			if a.class[c] == 0 {
				a.class[c] = uint8(classes)
				classes++
			}
		}
	}
	for c := range a.class {
		a.class[c] = a.class[lower(byte(c))]
	}
	for 1<<a.shift < classes {
		a.shift++
	}
	number := a.number(nodes, order)
	a.next = make([]uint16, len(nodes)<<a.shift)
	for _, n := range order { // a failure leads to a state nearer to the root, whose row is made
		row := a.next[int(number[n])<<a.shift:][:1<<a.shift]
		if n != 0 {
			copy(row, a.next[int(number[nodes[n].fail])<<a.shift:][:1<<a.shift])
		}
		for c, to := range nodes[n].next {
			row[a.class[c]] = number[to]
		}
	}
	return a
}

// number gives the states that end no keyword the lower numbers; the root is 0.
func (a *automaton) number(nodes []node, order []int) []uint16 {
	number := make([]uint16, len(nodes))
	for _, n := range order {
		if len(nodes[n].ends) == 0 {
			number[n] = a.quiet
			a.quiet++
		}
	}
	for _, n := range order {
		if len(nodes[n].ends) > 0 {
			number[n] = a.quiet + uint16(len(a.endsAt))
			a.endsAt = append(a.endsAt, nodes[n].ends)
		}
	}
	return number
}

// trie returns the states, the root first, and an order in which each comes after
// the one it fails to.
func trie(keywords []string) (nodes []node, order []int) {
	nodes = []node{{next: map[byte]int{}}}
	for i, k := range keywords {
		at := 0
		for _, c := range []byte(k) {
			to, ok := nodes[at].next[c]
			if !ok {
				to = len(nodes)
				nodes = append(nodes, node{next: map[byte]int{}})
				nodes[at].next[c] = to
			}
			at = to
		}
		nodes[at].ends = append(nodes[at].ends, uint16(i))
	}
	order = []int{0}
	for i := 0; i < len(order); i++ {
		n := order[i]
		for c, to := range nodes[n].next {
			order = append(order, to)
			if n != 0 {
				nodes[to].fail = failure(nodes, nodes[n].fail, c)
			}
			nodes[to].ends = append(nodes[to].ends, nodes[nodes[to].fail].ends...)
		}
	}
	return nodes, order
}

func failure(nodes []node, at int, c byte) int {
	for {
		if to, ok := nodes[at].next[c]; ok {
			return to
		}
		if at == 0 {
			return 0
		}
		at = nodes[at].fail
	}
}

// find calls hit with the index and the end of each keyword in s.
func (a *automaton) find(s string, hit func(keyword uint16, end int)) {
	state := uint16(0)
	for i := range len(s) {
		state = a.next[uint(state)<<a.shift|uint(a.class[s[i]])]
		if state >= a.quiet {
			for _, k := range a.endsAt[state-a.quiet] {
				hit(k, i+1)
			}
		}
	}
}
