// Package latex writes equations as LaTeX.
//
// It imports the XML reader only and must not import a reader of documents. Start at [Office]
// and [MathML].
package latex

import (
	"strings"

	"toolcrib/tools/internal/document/markup"
)

// Office writes an equation of Office Open XML.
func Office(node *markup.Node) string {
	var b strings.Builder
	office(&b, node)
	return strings.TrimSpace(b.String())
}

func office(b *strings.Builder, n *markup.Node) {
	part := func(name string) string {
		var inner strings.Builder
		if child := n.Child(name); child != nil {
			for _, c := range child.Nodes {
				office(&inner, c)
			}
		}
		return strings.TrimSpace(inner.String())
	}
	property := func(name string) (string, bool) {
		child := n.Child(n.Name + "Pr").Child(name)
		return child.Attr("val"), child != nil
	}
	all := func() {
		for _, c := range n.Nodes {
			office(b, c)
		}
	}
	switch n.Name {
	case "t":
		b.WriteString(symbols(n.Inner()))
	case "f":
		if kind, _ := property("type"); kind == "lin" {
			b.WriteString(part("num") + "/" + part("den"))
			return
		}
		b.WriteString(`\frac{` + part("num") + "}{" + part("den") + "}")
	case "sSup":
		b.WriteString(grouped(part("e")) + "^{" + part("sup") + "}")
	case "sSub":
		b.WriteString(grouped(part("e")) + "_{" + part("sub") + "}")
	case "sSubSup":
		b.WriteString(grouped(part("e")) + "_{" + part("sub") + "}^{" + part("sup") + "}")
	case "sPre":
		b.WriteString("{}_{" + part("sub") + "}^{" + part("sup") + "}" + part("e"))
	case "rad":
		root := `\sqrt`
		if degree := part("deg"); degree != "" {
			root += "[" + degree + "]"
		}
		b.WriteString(root + "{" + part("e") + "}")
	case "nary":
		operator := `\int`
		if char, ok := property("chr"); ok {
			operator = strings.TrimSpace(symbols(char))
		}
		b.WriteString(limits(operator, part("sub"), part("sup")) + " " + part("e"))
	case "d":
		open, end := "(", ")"
		if char, ok := property("begChr"); ok {
			open = char
		}
		if char, ok := property("endChr"); ok {
			end = char
		}
		var inner []string
		for _, e := range n.Children("e") {
			inner = append(inner, Office(&markup.Node{Nodes: e.Nodes}))
		}
		b.WriteString(`\left` + fence(open) + strings.Join(inner, "|") + `\right` + fence(end))
	case "func":
		b.WriteString(function(part("fName")) + "{" + part("e") + "}")
	case "acc":
		char, _ := property("chr")
		b.WriteString(accent(char) + "{" + part("e") + "}")
	case "bar":
		b.WriteString(`\overline{` + part("e") + "}")
	case "limLow":
		b.WriteString(function(part("e")) + "_{" + part("lim") + "}")
	case "limUpp":
		b.WriteString(function(part("e")) + "^{" + part("lim") + "}")
	case "m":
		var rows []string
		for _, mr := range n.Children("mr") {
			var cells []string
			for _, e := range mr.Children("e") {
				cells = append(cells, Office(&markup.Node{Nodes: e.Nodes}))
			}
			rows = append(rows, strings.Join(cells, " & "))
		}
		b.WriteString(`\begin{matrix}` + strings.Join(rows, ` \\ `) + `\end{matrix}`)
	case "eqArr":
		var rows []string
		for _, e := range n.Children("e") {
			rows = append(rows, Office(&markup.Node{Nodes: e.Nodes}))
		}
		b.WriteString(`\begin{aligned}` + strings.Join(rows, ` \\ `) + `\end{aligned}`)
	case "", "rPr", "ctrlPr", "fPr", "dPr", "naryPr", "del":
	default:
		all()
	}
}

// MathML writes an equation of MathML. LaTeX that the equation has as an annotation is taken
// as it is.
func MathML(node *markup.Node) string {
	if tex := annotation(node); tex != "" {
		return strings.TrimSpace(tex)
	}
	return strings.TrimSpace(mathML(node))
}

func annotation(n *markup.Node) string {
	if n.Name == "annotation" && strings.Contains(strings.ToLower(n.Attr("encoding")), "tex") {
		return n.Inner()
	}
	for _, c := range n.Nodes {
		if tex := annotation(c); tex != "" {
			return tex
		}
	}
	return ""
}

func mathML(n *markup.Node) string {
	var parts []string
	for _, c := range n.Nodes {
		if c.Name != "" {
			parts = append(parts, mathML(c))
		}
	}
	at := func(i int) string {
		if i < len(parts) {
			return strings.TrimSpace(parts[i])
		}
		return ""
	}
	switch n.Name {
	case "mi":
		text := strings.TrimSpace(n.Inner())
		if len(text) > 1 && text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z' {
			return function(text)
		}
		return symbols(text)
	case "mn", "mo", "ms":
		return symbols(strings.TrimSpace(n.Inner()))
	case "mtext":
		return `\text{` + strings.TrimSpace(n.Inner()) + "}"
	case "mspace":
		return " "
	case "annotation", "annotation-xml", "mphantom":
		return ""
	case "mfrac":
		return `\frac{` + at(0) + "}{" + at(1) + "}"
	case "msup":
		return grouped(at(0)) + "^{" + at(1) + "}"
	case "msub":
		return grouped(at(0)) + "_{" + at(1) + "}"
	case "msubsup":
		return grouped(at(0)) + "_{" + at(1) + "}^{" + at(2) + "}"
	case "munderover":
		return limits(at(0), at(1), at(2)) + " "
	case "munder":
		return limits(at(0), at(1), "") + " "
	case "mover":
		if a, ok := accents[at(1)]; ok {
			return a + "{" + at(0) + "}"
		}
		return limits(at(0), "", at(1))
	case "msqrt":
		return `\sqrt{` + strings.Join(parts, "") + "}"
	case "mroot":
		return `\sqrt[` + at(1) + "]{" + at(0) + "}"
	case "mtable":
		return `\begin{matrix}` + strings.Join(parts, ` \\ `) + `\end{matrix}`
	case "mtr", "mlabeledtr":
		return strings.Join(parts, " & ")
	case "mfenced":
		return `\left(` + strings.Join(parts, ", ") + `\right)`
	}
	return strings.Join(parts, "")
}

func limits(operator, low, high string) string {
	if low != "" {
		operator += "_{" + low + "}"
	}
	if high != "" {
		operator += "^{" + high + "}"
	}
	return operator
}

// grouped puts braces around a base of several signs.
func grouped(base string) string {
	runes := []rune(base)
	if len(runes) <= 1 || runes[0] == '\\' && !strings.ContainsAny(base, " {}^_+-") {
		return base
	}
	return "{" + base + "}"
}

func fence(char string) string {
	switch char {
	case "":
		return "."
	case "{", "}":
		return `\` + char
	}
	return strings.TrimSpace(symbols(char))
}

// function writes the name of a function as LaTeX knows it.
func function(name string) string {
	switch name {
	case "sin", "cos", "tan", "cot", "log", "ln", "exp", "lim", "max", "min", "sup", "inf", "det", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "gcd":
		return `\` + name
	}
	return name
}

func accent(char string) string {
	if a, ok := accents[char]; ok {
		return a
	}
	return `\hat`
}
