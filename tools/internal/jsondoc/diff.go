package jsondoc

import "strconv"

// Difference is one change from a document to another.
type Difference struct {
	Pointer string
	Old     *Node // nil = added
	New     *Node // nil = removed
}

// Diff returns what changes a into b. Numbers are compared by value, objects without order,
// and the items of arrays so that as few as possible are added and removed. It breaks off when
// the pointers have more than so many bytes.
func Diff(a, b *Node, most int) []Difference {
	d := differ{room: most}
	d.values("", a, b)
	return d.found
}

type differ struct {
	found []Difference
	room  int // for pointers
}

func (d *differ) add(at string, a, b *Node) {
	if d.room >= 0 {
		d.found = append(d.found, Difference{at, a, b})
		d.room -= len(at)
	}
}

func (d *differ) values(at string, a, b *Node) {
	switch {
	case d.room < 0:
	case a.Kind == Object && b.Kind == Object:
		for _, m := range a.Unique() {
			if other := b.Get(m.Key); other != nil {
				d.values(Pointer(at, m.Key), m.Value, other)
			} else {
				d.add(Pointer(at, m.Key), m.Value, nil)
			}
		}
		for _, m := range b.Unique() {
			if a.Get(m.Key) == nil {
				d.add(Pointer(at, m.Key), nil, m.Value)
			}
		}
	case a.Kind == Array && b.Kind == Array:
		d.arrays(at, a.Items, b.Items)
	case !Equal(a, b):
		d.add(at, a, b)
	}
}

// maxTable is the largest table of a comparison of arrays. Items of larger ones are compared
// one by one.
const maxTable = 1 << 20

// arrays pairs equal items. Between them items are paired in order, and the rest is added or
// removed. A pointer names the index in the array that has the item: the new one unless it was
// removed.
func (d *differ) arrays(at string, a, b []*Node) {
	first := 0
	for first < len(a) && first < len(b) && Equal(a[first], b[first]) {
		first++
	}
	last := 0
	for last < len(a)-first && last < len(b)-first && Equal(a[len(a)-1-last], b[len(b)-1-last]) {
		last++
	}
	i, j := first, first
	for _, pair := range append(common(a[first:len(a)-last], b[first:len(b)-last]), [2]int{len(a) - last - first, len(b) - last - first}) {
		nextA, nextB := first+pair[0], first+pair[1]
		for ; i < nextA || j < nextB; i, j = i+1, j+1 {
			switch {
			case i >= nextA:
				d.add(at+"/"+strconv.Itoa(j), nil, b[j])
			case j >= nextB:
				d.add(at+"/"+strconv.Itoa(i), a[i], nil)
			default:
				d.values(at+"/"+strconv.Itoa(j), a[i], b[j])
			}
		}
		i, j = nextA+1, nextB+1
	}
}

// common returns the indexes of a longest common subsequence, of arrays whose first items differ.
func common(a, b []*Node) (pairs [][2]int) {
	if len(a)*len(b) > maxTable || len(a)*len(b) <= 1 {
		return nil
	}
	texts := func(items []*Node) []string {
		list := make([]string, len(items))
		for i, item := range items {
			list[i] = item.Canonical()
		}
		return list
	}
	textsA, textsB := texts(a), texts(b)
	table := make([][]int32, len(a)+1)
	table[len(a)] = make([]int32, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		table[i] = make([]int32, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if textsA[i] == textsB[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case textsA[i] == textsB[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case table[i+1][j] >= table[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
