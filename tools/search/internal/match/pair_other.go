//go:build !amd64

package match

// index returns the first place at or after from where the text of p starts, -1
// if there is none.
func (p *pair) index(text []byte, from int) int { return p.indexPortable(text, from) }
