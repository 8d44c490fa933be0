package markup

import (
	"strings"

	"toolcrib/tools/internal/document"
)

// mostNodes is how many elements a tree has at most.
const mostNodes = 200_000

// Node is an element with all that is in it. A node without a name is text.
type Node struct {
	Name  string
	Text  string
	Nodes []*Node
	attrs []attr
}

// Tree reads the element that begins with all that is in it.
func (d *Decoder) Tree() (*Node, error) {
	n := 0
	return d.tree(&n)
}

func (d *Decoder) tree(count *int) (*Node, error) {
	if *count++; *count > mostNodes {
		return nil, &document.Error{Cause: document.TooLarge, Limit: "elements", Say: "limit of elements: a part has at most 200000 elements in one"}
	}
	node := &Node{Name: d.name, attrs: append([]attr(nil), d.attrs...)}
	for {
		kind, err := d.Next()
		if err != nil {
			return node, err
		}
		switch kind {
		case End:
			return node, nil
		case Text:
			node.Nodes = append(node.Nodes, &Node{Text: string(d.text)})
		case Start:
			child, err := d.tree(count)
			node.Nodes = append(node.Nodes, child)
			if err != nil {
				return node, err
			}
		}
	}
}

// Attr returns an attribute by its local name, or by its full one if the name has a colon.
func (n *Node) Attr(name string) string {
	if n == nil {
		return ""
	}
	d := Decoder{attrs: n.attrs}
	return d.Attr(name)
}

// Child returns the first child with one of the names; nil = none. A nil node has no child.
func (n *Node) Child(names ...string) *Node {
	if n == nil {
		return nil
	}
	for _, c := range n.Nodes {
		for _, name := range names {
			if c.Name == name && name != "" {
				return c
			}
		}
	}
	return nil
}

// Children returns the children with a name.
func (n *Node) Children(name string) []*Node {
	if n == nil {
		return nil
	}
	var found []*Node
	for _, c := range n.Nodes {
		if c.Name == name {
			found = append(found, c)
		}
	}
	return found
}

// Inner returns all text in the node.
func (n *Node) Inner() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	n.inner(&b)
	return b.String()
}

func (n *Node) inner(b *strings.Builder) {
	b.WriteString(n.Text)
	for _, c := range n.Nodes {
		c.inner(b)
	}
}

// Node returns the element that begins without what is in it.
func (d *Decoder) Node() *Node { return &Node{Name: d.name, attrs: append([]attr(nil), d.attrs...)} }

// Element makes a node. attrs are names and values in turn.
func Element(name string, attrs ...string) *Node {
	n := &Node{Name: name}
	for i := 0; i+1 < len(attrs); i += 2 {
		n.attrs = append(n.attrs, attr{attrs[i], attrs[i+1]})
	}
	return n
}
