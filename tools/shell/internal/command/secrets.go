package command

import (
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools/internal/secrets"
)

// Redacted returns a line as records may have it: without its secrets. If it cannot be parsed,
// each word is checked, and more is removed.
func Redacted(line string) string {
	return secrets.Without(line, (&effort{left: maxRedacted, until: time.Now().Add(maxTime)}).secrets(line, 0))
}

// Asks reports whether a command of a line may ask for a secret, or read one from its
// input.
func Asks(line string) bool {
	for _, c := range Parse(line, Location{Anywhere: true}).Commands {
		words := make([]string, len(c.Words))
		for i, w := range c.Words {
			words[i] = w.Text
		}
		if secrets.Asks(words) {
			return true
		}
	}
	return false
}

// Limits of the parsing of one line: bytes, including words that are parsed as lines, and
// their nesting.
const (
	maxRedacted = 256 << 10
	mostQuoted  = 4
)

// effort is how much may still be parsed for a line.
type effort struct {
	left  int
	until time.Time
}

// secrets returns the positions of the secrets in a line.
func (e *effort) secrets(line string, depth int) []secrets.Span {
	if e.left -= len(line); e.left < 0 && depth > 0 {
		return []secrets.Span{{From: 0, To: len(line)}} // its content is unknown
	}
	if e.left < 0 || depth > mostQuoted {
		return secrets.Unparsed(line)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(&source{text: line, until: e.until}, "")
	if err != nil {
		return secrets.Unparsed(line)
	}
	c := &secretFinder{effort: e, src: line, depth: depth, documents: map[*syntax.Word]bool{}}
	syntax.Walk(file, c.visit)
	return c.spans
}

// secretFinder collects the secrets of a line.
type secretFinder struct {
	*effort
	src       string
	depth     int
	documents map[*syntax.Word]bool // here-documents, in which backslashes have other rules
	spans     []secrets.Span
}

func (c *secretFinder) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Word:
		c.word(n)
	case *syntax.Comment:
		from, to := int(n.Pos().Offset()), int(n.End().Offset())
		c.moved(c.secrets(c.src[from+1:to], c.depth+1), func(at int) int { return from + 1 + at })
	case *syntax.Assign:
		if n.Name != nil && secrets.Name(n.Name.Value) {
			c.all(n.Value)
			if n.Array != nil {
				for _, e := range n.Array.Elems {
					c.all(e.Value)
				}
			}
		}
	case *syntax.CallExpr:
		c.call(n.Args)
	case *syntax.BinaryCmd:
		if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && takes(c.src, n.Y) {
			c.printed(n.X)
		}
	case *syntax.Stmt:
		for _, r := range n.Redirs {
			c.documents[r.Hdoc] = true
		}
		c.redirects(n)
	}
	return true
}

// redirects checks the input of a statement and the files that it writes.
func (c *secretFinder) redirects(s *syntax.Stmt) {
	if writesFile(c.src, s) {
		c.printed(s)
	}
	if len(s.Redirs) == 0 || s.Cmd == nil || !takes(c.src, &syntax.Stmt{Cmd: s.Cmd, Position: s.Position}) {
		return
	}
	for _, r := range s.Redirs {
		c.given(r)
	}
}

// given marks the input of a redirection as a secret.
func (c *secretFinder) given(r *syntax.Redirect) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		c.all(r.Hdoc)
	case syntax.WordHdoc:
		c.all(r.Word)
	case syntax.RdrIn:
		syntax.Walk(r.Word, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ProcSubst); ok {
				for _, s := range p.Stmts {
					c.printed(s)
				}
			}
			return true
		})
	}
}

// printed marks the output of a statement as secret: the words of echo and printf, and the
// input that the line gives to other commands.
func (c *secretFinder) printed(s *syntax.Stmt) {
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 1 && slices.Contains([]string{"echo", "printf", "print", "yes"}, n.Args[0].Lit()) {
				for _, w := range n.Args[1:] {
					c.all(w)
				}
			}
		case *syntax.Redirect:
			c.given(n)
		}
		return true
	})
}

// takes reports whether a command of a statement reads a secret from its input, or writes its
// input to a file of secrets.
func takes(src string, s *syntax.Stmt) (found bool) {
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			found = found || writesFile(src, n)
		case *syntax.CallExpr:
			words := make([]string, len(n.Args))
			for i, w := range n.Args {
				words[i] = literal(src, w).text
			}
			found = found || secrets.Command(words).Input
		}
		return !found
	})
	return found
}

// writesFile reports whether a redirection of a statement writes to a file of secrets.
func writesFile(src string, s *syntax.Stmt) bool {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			if secrets.File(literal(src, r.Word).text) {
				return true
			}
		}
	}
	return false
}

// call finds the secrets among the words of a command.
func (c *secretFinder) call(args []*syntax.Word) {
	words, texts := make([]string, len(args)), make([]text, len(args))
	for i, w := range args {
		texts[i] = literal(c.src, w)
		words[i] = texts[i].text
	}
	for i, spans := range secrets.Command(words).Words {
		c.moved(spans, texts[i].source)
	}
}

// word finds the secrets in a word, and parses a word that may be a line itself.
func (c *secretFinder) word(w *syntax.Word) {
	t := c.text(w)
	c.moved(secrets.Text(t.text), t.source)
	if !strings.ContainsAny(t.text, " \t\n") {
		return
	}
	c.moved(c.secrets(t.text, c.depth+1), t.source)
	if name, line, ok := strings.Cut(t.text, "="); ok && syntax.ValidName(name) && strings.ContainsAny(line, " \t\n") { // of an alias
		c.moved(c.secrets(line, c.depth+1), func(at int) int { return t.source(len(name) + 1 + at) })
	}
}

// text returns a word without its quotes, a here-document as it is.
func (c *secretFinder) text(w *syntax.Word) text {
	if !c.documents[w] {
		return literal(c.src, w)
	}
	r := &reader{src: c.src}
	from, to := int(w.Pos().Offset()), min(int(w.End().Offset()), len(c.src))
	r.verbatim(from, from+strings.LastIndexByte(c.src[from:to], '\n')+1) // its delimiter is on the last line
	return text{string(r.out), r.at}
}

// all marks a word as secret, except for its expansions.
func (c *secretFinder) all(w *syntax.Word) {
	if w == nil {
		return
	}
	t := c.text(w)
	if span, ok := secrets.Value(t.text); ok {
		c.moved([]secrets.Span{span}, t.source)
	}
}

// moved adds spans of a text that is a part of the line.
func (c *secretFinder) moved(spans []secrets.Span, source func(int) int) {
	for _, s := range spans {
		if s.From < s.To {
			c.spans = append(c.spans, secrets.Span{From: source(s.From), To: source(s.To-1) + 1})
		}
	}
}

// text is a word without its quotes. Expansions in it are as written.
type text struct {
	text string
	at   []int // the position of each byte in the line
}

func (t text) source(i int) int { return t.at[i] }

// literal returns a word without its quotes.
func literal(src string, w *syntax.Word) text {
	r := &reader{src: src}
	r.parts(w.Parts, false)
	return text{string(r.out), r.at}
}

// reader removes the quotes of words.
type reader struct {
	src string
	out []byte
	at  []int
}

func (r *reader) parts(list []syntax.WordPart, double bool) {
	for _, part := range list {
		from, to := int(part.Pos().Offset()), int(part.End().Offset())
		switch part := part.(type) {
		case *syntax.Lit:
			r.unescaped(from, to, double)
		case *syntax.SglQuoted:
			from++
			if part.Dollar {
				from++
			}
			r.verbatim(from, to-1)
		case *syntax.DblQuoted:
			r.parts(part.Parts, true)
		default:
			r.verbatim(from, to)
		}
	}
}

func (r *reader) verbatim(from, to int) {
	for i := max(from, 0); i < min(to, len(r.src)); i++ {
		r.out, r.at = append(r.out, r.src[i]), append(r.at, i)
	}
}

// unescaped removes backslashes as a shell does.
func (r *reader) unescaped(from, to int, double bool) {
	for i := from; i < min(to, len(r.src)); i++ {
		if c := r.src[i]; c == '\\' && i+1 < to {
			next := r.src[i+1]
			if next == '\n' {
				i++
				continue
			}
			if !double || strings.IndexByte("\"\\$`", next) >= 0 {
				i++
			}
		}
		r.verbatim(i, i+1)
	}
}
