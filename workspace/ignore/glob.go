package ignore

import "strings"

// glob is a compiled pattern: a literal prefix, then the rest from the first wildcard on.
// It matches names and slash-separated paths.
//
// The prefix is compared first and the rest is matched as if it were alone. This shows in
// one case, which git has as well: in "a**/b" the rest begins with "**/",
// so that it crosses directories although other bytes precede it.
type glob struct {
	prefix string
	ops    []op
	suffix string // literal bytes that end each match, "" if not known
	inner  string // literal bytes that each match has after the prefix, "" if not known
	// slashes is how many slashes each match has, or anySlashes.
	slashes int
}

const anySlashes = -1

type opKind uint8

const (
	opLiteral   opKind = iota // the bytes of lit
	opAny                     // ?, one byte but a slash
	opClass                   // [...], one byte of set
	opStar                    // *, any bytes but slashes
	opTree                    // **, any bytes
	opTreeSlash               // **/, nothing or any bytes that end in a slash
)

type op struct {
	kind opKind
	lit  string
	set  *byteSet
}

// wildcards are the bytes that end the literal prefix.
const wildcards = `*?[\`

// compile reports false for a pattern that can match nothing, such as one with an
// unclosed class.
func compile(pattern string) (glob, bool) {
	i := strings.IndexAny(pattern, wildcards)
	if i < 0 {
		return glob{prefix: pattern, suffix: pattern, slashes: strings.Count(pattern, "/")}, true
	}
	g := glob{prefix: pattern[:i], slashes: strings.Count(pattern[:i], "/")}
	start := true // of the rest or of a component, where ** is special
	for p := pattern[i:]; p != ""; {
		var o op
		switch p[0] {
		case '*':
			o, p = compileStars(p, start)
		case '?':
			o, p = op{kind: opAny}, p[1:]
		case '[':
			set, rest, ok := parseClass(p[1:])
			if !ok {
				return glob{}, false
			}
			o, p = op{kind: opClass, set: set}, rest
		case '\\':
			if len(p) == 1 {
				return glob{}, false
			}
			o, p = op{kind: opLiteral, lit: p[1:2]}, p[2:]
		default:
			o, p = op{kind: opLiteral, lit: p[:1]}, p[1:]
		}
		start = o.kind == opTreeSlash || o.kind == opLiteral && o.lit == "/"
		g.add(o)
	}
	if o := g.ops[len(g.ops)-1]; o.kind == opLiteral {
		g.suffix = o.lit
	}
	g.inner = longest(g.ops)
	return g, true
}

// compileStars compiles the run of asterisks that p begins with. Two or more cross
// directories if they are a whole component; else they are as one.
func compileStars(p string, start bool) (op, string) {
	rest := strings.TrimLeft(p, "*")
	switch {
	case len(p)-len(rest) == 1 || !start:
	case strings.HasPrefix(rest, "/"):
		return op{kind: opTreeSlash}, rest[1:]
	case rest == "" || strings.HasPrefix(rest, `\/`):
		return op{kind: opTree}, rest
	}
	return op{kind: opStar}, rest
}

// add appends o, and joins neighbouring literals.
func (g *glob) add(o op) {
	switch o.kind {
	case opTree, opTreeSlash:
		g.slashes = anySlashes
	case opLiteral:
		if g.slashes != anySlashes {
			g.slashes += strings.Count(o.lit, "/")
		}
		if n := len(g.ops); n > 0 && g.ops[n-1].kind == opLiteral {
			g.ops[n-1].lit += o.lit
			return
		}
	}
	g.ops = append(g.ops, o)
}

// longest returns the longest literal of ops.
func longest(ops []op) string {
	lit := ""
	for _, o := range ops {
		if len(o.lit) > len(lit) {
			lit = o.lit
		}
	}
	return lit
}

// literal reports whether the prefix is the whole pattern.
func (g *glob) literal() bool { return len(g.ops) == 0 }

// match reports whether the whole text matches.
func (g *glob) match(text string) bool {
	if g.literal() {
		return text == g.prefix
	}
	if len(text) < len(g.prefix) || text[:len(g.prefix)] != g.prefix {
		return false
	}
	text = text[len(g.prefix):]
	if !strings.HasSuffix(text, g.suffix) {
		return false
	}
	if len(g.ops) == 2 && g.ops[0].kind == opStar && g.ops[1].kind == opLiteral {
		return strings.IndexByte(text[:len(text)-len(g.suffix)], '/') < 0
	}
	if !strings.Contains(text, g.inner) {
		return false
	}
	return matchOps(g.ops, text)
}

// matchOps goes through text once, and on a mismatch goes back to the last * or,
// where that would have to cross a slash, to the last **, and lets it take more.
// Earlier ones need no second try: any end that the last one can reach from a later
// position it can reach from the first.
func matchOps(ops []op, text string) bool {
	type state struct{ op, at int } // at op, having matched text[:at]
	var star, tree state
	haveStar, haveTree := false, false
	for i, at := 0, 0; ; {
		if i == len(ops) && at == len(text) {
			return true
		}
		if i < len(ops) {
			switch o := &ops[i]; o.kind {
			case opStar:
				star, haveStar = state{i, at}, true
				i++
				continue
			case opTree, opTreeSlash:
				tree, haveTree, haveStar = state{i, at}, true, false
				i++
				continue
			default:
				if n := o.step(text[at:]); n > 0 {
					i, at = i+1, at+n
					continue
				}
			}
		}
		switch {
		case haveStar && star.at < len(text) && text[star.at] != '/':
			star.at++
			i, at = star.op+1, star.at
		case haveTree && tree.at < len(text):
			next := 1
			if ops[tree.op].kind == opTreeSlash {
				if next += strings.IndexByte(text[tree.at:], '/'); next == 0 {
					return false
				}
			}
			tree.at += next
			i, at, haveStar = tree.op+1, tree.at, false
		default:
			return false
		}
	}
}

// step returns how many bytes of text an operation of fixed length takes, 0 if it does not
// match.
func (o *op) step(text string) int {
	switch {
	case text == "":
		return 0
	case o.kind == opLiteral:
		if strings.HasPrefix(text, o.lit) {
			return len(o.lit)
		}
		return 0
	case text[0] == '/', o.kind == opClass && !o.set.has(text[0]):
		return 0
	}
	return 1
}
