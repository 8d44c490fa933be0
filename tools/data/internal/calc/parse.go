package calc

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a number, a name, an operator or a bracket.
type token struct {
	kind  tokenKind
	text  string
	value *big.Rat // of a number
	at    int      // characters before it
}

type tokenKind uint8

const (
	end tokenKind = iota
	numeral
	name
	sign
)

// written are other ways to write operators.
var written = map[rune]string{'×': "*", '·': "*", '⋅': "*", '÷': "/", '−': "-", '–': "-", '（': "(", '）': ")", '，': ","}

// refused are characters with a meaning elsewhere, and what to write for them here.
var refused = map[rune]string{
	'^':  "write ** for a power",
	'!':  "write factorial(n)",
	'=':  "give one expression, without = and comparisons",
	'<':  "give one expression, without comparisons and shifts",
	'>':  "give one expression, without comparisons and shifts",
	'&':  "bit operators are not known",
	'|':  "bit operators are not known; write abs(x) for the absolute value",
	'~':  "bit operators are not known",
	';':  "give one expression in a call",
	'$':  "leave out the currency",
	'€':  "leave out the currency",
	'"':  "give numbers without quotes",
	'√':  "write sqrt(x)",
	'π':  "write pi",
	'°':  "write radians(x) around degrees",
	'²':  "write **2 for a square",
	'³':  "write **3 for a cube",
	':':  "write / to divide",
	'?':  "give only the expression",
	'{':  "use round brackets",
	'}':  "use round brackets",
	'\\': "write operators and functions as Python does, not as LaTeX",
}

// elsewhere says what to write for a word with a meaning elsewhere, "" if it has none.
func elsewhere(word string) string {
	switch strings.ToLower(word) {
	case "x":
		return "write * to multiply; there are no variables: write the numbers themselves"
	case "mod":
		return "write a % b for the remainder"
	case "div":
		return "write a // b for a division that is rounded down"
	case "of":
		return "write * for of"
	case "avg", "average":
		return "write mean"
	case "std", "stddev":
		return "write stdev, or pstdev for a whole population"
	case "var":
		return "write variance, or pvariance for a whole population"
	case "c", "ncr", "choose", "binomial":
		return "write comb(n, k)"
	case "p", "npr":
		return "write perm(n, k)"
	case "root", "nthroot":
		return "write x**(1/n) for a root"
	case "square":
		return "write x**2"
	case "deg", "degree":
		return "write radians(x) around degrees"
	case "and", "or", "not", "if", "else", "for", "in":
		return "give one arithmetic expression; run_python runs a program"
	case "range", "len", "float", "decimal", "fraction", "bin", "hex", "datetime", "datetime.now":
		return "there are numbers and lists of them only; run_python runs a program"
	}
	return ""
}

func scan(text string) ([]token, error) {
	var tokens []token
	for i, at := 0, 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		t := token{at: at}
		switch {
		case unicode.IsSpace(r):
		case isDigit(text[i]) || r == '.' && i+1 < len(text) && isDigit(text[i+1]):
			var err error
			if t, size, err = scanNumber(text[i:], at); err != nil {
				return nil, err
			}
		case r == '_' || unicode.IsLetter(r) && refused[r] == "":
			size = strings.IndexFunc(text[i:], func(r rune) bool {
				return r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
			})
			if size < 0 {
				size = len(text) - i
			}
			t.kind, t.text = name, strings.TrimPrefix(strings.TrimPrefix(text[i:i+size], "math."), "statistics.")
		case strings.ContainsRune("+-*/%(),[]", r):
			t.kind, t.text = sign, string(r)
			if next := text[i+1:]; (r == '*' || r == '/') && strings.HasPrefix(next, t.text) {
				t.text += t.text
				size = 2
			}
		case written[r] != "":
			t.kind, t.text = sign, written[r]
		default:
			hint := refused[r]
			if unicode.IsDigit(r) {
				hint = "write digits as 0 to 9"
			}
			return nil, &Error{Msg: "unexpected " + strconv.QuoteRune(r) + where(at), Hint: hint}
		}
		at += utf8.RuneCountInString(text[i : i+size])
		i += size
		if t.kind != end {
			tokens = append(tokens, t)
		}
	}
	return append(tokens, token{at: utf8.RuneCountInString(text)}), nil
}

func where(at int) string { return " at character " + strconv.Itoa(at+1) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// scanNumber reads a numeral as Python does, with an exact value.
func scanNumber(text string, at int) (t token, size int, err error) {
	run := func(in string) {
		for size < len(text) && (strings.IndexByte(in, text[size]) >= 0 || text[size] == '_' && size > 0 && text[size-1] != '_' && size+1 < len(text) && strings.IndexByte(in, text[size+1]) >= 0) {
			size++
		}
	}
	const decimal = "0123456789"
	based := len(text) > 1 && text[0] == '0' && strings.IndexByte("xXoObB", text[1]) >= 0
	if based {
		size = 2
		run(map[byte]string{'x': "0123456789abcdefABCDEF", 'o': "01234567", 'b': "01"}[text[1]|0x20])
	} else {
		run(decimal)
		if size < len(text) && text[size] == '.' {
			size++
			run(decimal)
		}
		if size < len(text) && text[size]|0x20 == 'e' {
			digits := size + 1
			if digits < len(text) && (text[digits] == '+' || text[digits] == '-') {
				digits++
			}
			if digits < len(text) && isDigit(text[digits]) {
				size = digits
				run(decimal)
			}
		}
	}
	literal := text[:size]
	digits := strings.ReplaceAll(literal, "_", "")
	if !based {
		if i := strings.IndexAny(digits, "eE"); i >= 0 {
			if e, err := strconv.Atoi(digits[i+1:]); err != nil || e > MaxDigits || e < -MaxDigits {
				return t, 0, fail("the exponent of %s is over %d%s", literal, MaxDigits, where(at))
			}
		}
		if whole := strings.TrimLeft(digits, "0"); len(digits)-len(whole) > 0 && whole != "" && isDigit(whole[0]) {
			return t, 0, &Error{Msg: "number with a leading zero" + where(at), Hint: "write 0o for an octal number, or leave out the zero"}
		}
	}
	if next, _ := utf8.DecodeRuneInString(text[size:]); size < len(text) && (next == '_' || unicode.IsLetter(next) || unicode.IsDigit(next) || next == '.') {
		hint := "write * between a number and a name; leave out units"
		switch {
		case next == '.':
			hint = "write a decimal with one point, thousands without"
		case next|0x20 == 'k' && strings.Trim(literal, "0123456789._") == "":
			hint = "write " + literal + "e3 for thousands; leave out units"
		case next|0x20 == 'x':
			hint = "write * to multiply"
		}
		return t, 0, &Error{Msg: "unexpected " + strconv.QuoteRune(next) + " after " + literal + where(at+size), Hint: hint}
	}
	value, ok := new(big.Rat).SetString(digits)
	if based {
		var i *big.Int
		if i, ok = new(big.Int).SetString(digits, 0); ok {
			value = new(big.Rat).SetInt(i)
		}
	}
	if !ok {
		return t, 0, fail("%s is no number%s", literal, where(at))
	}
	return token{numeral, literal, value, at}, size, nil
}

// parser evaluates while it reads, by the binding powers of operators (a Pratt parser).
type parser struct {
	tokens []token
	m      *machine
	depth  int
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *parser) accept(text string) bool {
	if t := p.peek(); t.kind == sign && t.text == text {
		p.next()
		return true
	}
	return false
}

func (p *parser) unexpected(t token) error {
	hint := ""
	if t.kind == end {
		return fail("the expression ends too early")
	}
	switch {
	case t.kind == name:
		hint = cmp.Or(elsewhere(t.text), "write an operator between two values; leave out units and other words")
	case t.kind == numeral:
		hint = "write an operator between two values, such as 3+1/2"
	case t.text == "(":
		hint = "write an operator between two values, * to multiply"
	case t.text == ",":
		hint = "write a decimal with a point, such as 3.5, and thousands without a comma, such as 1000; a comma separates arguments"
	case t.text == "[":
		hint = "a list is an argument of a function"
	case t.text == ")":
		hint = "a value or a \"(\" is missing before it"
	default:
		hint = "a value is missing before it"
	}
	return &Error{Msg: "unexpected " + strconv.Quote(t.text) + where(t.at), Hint: hint}
}

func (p *parser) whole() (number, error) {
	if p.peek().kind == end {
		return number{}, fail("the expression is empty")
	}
	n, err := p.expression(0)
	if err != nil {
		return number{}, err
	}
	if t := p.peek(); t.kind != end {
		return number{}, p.unexpected(t)
	}
	return n, nil
}

// The binding powers. A power binds its left side more tightly than a sign does, and its
// right side less: -2**2 is -4, 2**-1 is a half.
const (
	sums     = 10
	products = 20
	signs    = 30
	powers   = 40
)

var binding = map[string]int{"+": sums, "-": sums, "*": products, "/": products, "//": products, "%": products, "**": powers}

func (p *parser) expression(least int) (number, error) {
	if p.depth++; p.depth > MaxNesting {
		return number{}, fail("nested more than %d levels deep", MaxNesting)
	}
	defer func() { p.depth-- }()
	left, err := p.prefix()
	if err != nil {
		return number{}, err
	}
	for {
		t := p.peek()
		power := binding[t.text]
		if t.kind != sign || power <= least {
			return left, nil
		}
		p.next()
		if t.text == "%" && p.percent() {
			return number{}, &Error{Msg: "% is the remainder of a division" + where(t.at), Hint: "write x/100 for x percent, x/100*a for x percent of a, a*(1+x/100) to add them to a"}
		}
		right := power
		if t.text == "**" {
			right = signs - 1 // from right to left, with a sign in front
		}
		n, err := p.expression(right)
		if err != nil {
			return number{}, err
		}
		if left, err = p.m.binary(t.text, left, n); err != nil {
			return number{}, err
		}
	}
}

// percent reports whether no value follows.
func (p *parser) percent() bool {
	t := p.peek()
	return t.kind == end || t.kind == name && t.text == "of" || t.kind == sign && slices.Contains([]string{"*", "/", "//", "**", "%", ")", ",", "]"}, t.text)
}

func (m *machine) binary(op string, a, b number) (number, error) {
	if err := m.ctx.Err(); err != nil {
		return number{}, err
	}
	switch op {
	case "+":
		return m.add(a, b)
	case "-":
		return m.sub(a, b)
	case "*":
		return m.mul(a, b)
	case "/":
		return m.div(a, b)
	case "//":
		return m.floorDiv(a, b)
	case "%":
		return m.mod(a, b)
	}
	return m.pow(a, b)
}

func (p *parser) prefix() (number, error) {
	t := p.next()
	switch {
	case t.kind == numeral:
		return p.m.fits(t.value)
	case t.kind == name:
		return p.named(t)
	case t.text == "+" || t.text == "-":
		n, err := p.expression(signs)
		if err == nil && t.text == "-" {
			n = p.m.neg(n)
		}
		return n, err
	case t.text == "(":
		n, err := p.expression(0)
		if err == nil && !p.accept(")") {
			return n, p.closing(")")
		}
		return n, err
	}
	return number{}, p.unexpected(t)
}

func (p *parser) closing(bracket string) error {
	if t := p.peek(); t.kind != end {
		return p.unexpected(t)
	}
	return fail("a %q is missing at the end", bracket)
}

// named reads a constant or a call.
func (p *parser) named(t token) (number, error) {
	if !p.accept("(") {
		if c, ok := constants[t.text]; ok {
			return c(p.m)
		}
		e := &Error{Msg: "no constant is called " + t.text, Name: t.text, Hint: elsewhere(t.text)}
		if _, ok := functions()[t.text]; ok {
			e = &Error{Msg: t.text + " is a function", Hint: "give its argument in brackets"}
		}
		return number{}, e
	}
	f, ok := functions()[t.text]
	if !ok {
		return number{}, &Error{Msg: "no function is called " + t.text, Name: t.text, Call: true, Hint: elsewhere(t.text)}
	}
	args, err := p.arguments()
	if err != nil {
		return number{}, err
	}
	if len(args) < f.least || f.most >= 0 && len(args) > f.most {
		return number{}, fail("%s takes %s, not %d", t.text, f.counts(), len(args))
	}
	if err := p.m.ctx.Err(); err != nil {
		return number{}, err
	}
	n, err := f.run(p.m, args)
	if e, ok := err.(*Error); ok && !strings.Contains(e.Msg, t.text) {
		err = &Error{Msg: t.text + ": " + e.Msg, Hint: e.Hint}
	}
	return n, err
}

// arguments reads what follows an opening bracket. A list in square brackets counts as its
// items.
func (p *parser) arguments() ([]number, error) {
	var args []number
	if p.accept(")") {
		return nil, nil
	}
	for {
		listed := p.accept("[")
		for !listed || !p.accept("]") {
			n, err := p.expression(0)
			if err != nil {
				return nil, err
			}
			args = append(args, n)
			if !listed {
				break
			}
			if !p.accept(",") && p.peek().text != "]" {
				return nil, p.closing("]")
			}
		}
		comma := p.accept(",")
		if p.accept(")") {
			return args, nil
		}
		if !comma {
			return nil, p.closing(")")
		}
	}
}
