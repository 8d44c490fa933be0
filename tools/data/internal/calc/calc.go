// Package calc evaluates arithmetic expressions exactly.
//
// Integers, decimals and fractions are exact rationals ([big.Rat]). A value becomes an
// approximation ([big.Float]) only where it has no exact form that fits: a root, a logarithm, a
// sine. Every such value has guard digits more than the result shows. A library of decimals
// would round a third at its precision, so that three of them were not one. Operators mean what
// they mean in Python. Start at [Eval], then parse.go, number.go, functions.go and series.go. The
// package imports nothing of toolcrib.
package calc

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// The limits of one evaluation.
const (
	MaxDigits    = 10_000 // of an integer, and the largest exponent of a decimal
	MaxNesting   = 100
	MaxPrecision = 200
	MaxScale     = 1_000
	MaxTime      = time.Second // of the clock
)

// guard is how many digits intermediate values have beyond the precision of the result. Where
// more are lost, everything is calculated once more, with up to maxGuard.
const (
	guard    = 16
	maxGuard = 1000
)

// Options say how to write the result.
type Options struct {
	Precision int  // significant digits of a result that is no integer
	Scale     *int // digits after the point; nil = as many as there are
}

// Result is the value of an expression.
type Result struct {
	Text    string
	Rounded bool // Text is not the exact value
}

// Error says what is wrong with an expression.
type Error struct {
	Msg, Hint string
	Name      string // the unknown name, "" for other errors; Hint is "" if it is unknown elsewhere too
	Call      bool   // whether Name is called as a function
}

func (e *Error) Error() string { return e.Msg }

func fail(format string, args ...any) error { return &Error{Msg: fmt.Sprintf(format, args...)} }

// Eval returns the value of an expression. Its error is an [*Error] or that of the context.
func Eval(ctx context.Context, expression string, opt Options) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	tokens, err := scan(expression)
	if err != nil {
		return Result{}, err
	}
	for digits := guard; ; {
		m := newMachine(ctx, opt.Precision, digits)
		p := parser{tokens: tokens, m: m}
		n, err := p.whole()
		if err != nil && m.wanted <= digits {
			return Result{}, err
		}
		result, err2 := Result{}, err
		if err == nil {
			result, err2 = m.write(n, opt)
		}
		switch {
		case m.wanted <= digits:
			return result, err2
		case digits == maxGuard:
			return Result{}, &Error{Msg: "too many digits are lost on the way", Hint: "round values that are not exact before they become this large"}
		}
		digits = min(m.wanted, maxGuard)
	}
}

// write formats a value, rounded half to even where it has to be rounded.
func (m *machine) write(n number, opt Options) (Result, error) {
	if opt.Scale != nil {
		return m.writeScaled(n, *opt.Scale)
	}
	if n.r != nil && n.r.IsInt() {
		text := n.r.Num().String()
		if len(strings.TrimPrefix(text, "-")) > MaxDigits {
			return Result{}, tooLarge()
		}
		return Result{Text: text}, nil
	}
	r := n.full()
	at := magnitude(r)
	rounded := roundEven(r, opt.Precision-1-at)
	if rounded.Cmp(ten(at+1)) == 0 || rounded.Cmp(new(big.Rat).Neg(ten(at+1))) == 0 { // 9.99 became 10.0
		at++
	}
	return Result{Text: layout(rounded, at, opt.Precision), Rounded: n.r == nil || rounded.Cmp(r) != 0}, nil
}

// writeScaled formats a value with a number of digits after the point.
func (m *machine) writeScaled(n number, scale int) (Result, error) {
	if !n.exact() {
		m.need(magnitude(n.full()) + 1 + scale - m.precision)
	}
	rounded := roundEven(n.full(), scale)
	text := rounded.FloatString(scale)
	if len(text) > MaxDigits+scale+2 {
		return Result{}, tooLarge()
	}
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return Result{Text: text, Rounded: n.r == nil || rounded.Cmp(n.r) != 0}, nil
}

// roundEven rounds a rational to a number of digits after the point, which may be negative.
func roundEven(r *big.Rat, digits int) *big.Rat {
	power := ten(digits)
	scaled := new(big.Rat).Mul(r, power)
	whole, twice, rest := new(big.Int), new(big.Int), new(big.Int)
	whole.DivMod(scaled.Num(), scaled.Denom(), rest) // the floor, since the denominator is positive
	twice.Lsh(rest, 1)
	if c := twice.Cmp(scaled.Denom()); c > 0 || c == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return scaled.Quo(new(big.Rat).SetInt(whole), power)
}

// ten is a power of ten.
func ten(n int) *big.Rat {
	r := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, -n))), nil))
	if n < 0 {
		r.Inv(r)
	}
	return r
}

// magnitude is the exponent of a rational with one digit before the point; of zero it is 0.
func magnitude(r *big.Rat) int {
	if r.Sign() == 0 {
		return 0
	}
	const log2 = 0.30102999566398119521
	bits := r.Num().BitLen() - r.Denom().BitLen()
	at := int(math.Floor(float64(bits-1) * log2)) // at most one too small
	if new(big.Rat).Abs(r).Cmp(ten(at+1)) >= 0 {
		at++
	}
	return at
}

// layout writes a decimal of at most so many digits: with an exponent where zeros would take
// the place of digits that it does not have, or where there would be many.
func layout(r *big.Rat, at, precision int) string {
	if at >= precision || at < -15 {
		return trimmed(new(big.Rat).Quo(r, ten(at)).FloatString(precision-1)) + "e" + strconv.Itoa(at)
	}
	return trimmed(r.FloatString(max(precision-1-at, 0)))
}

// trimmed returns a decimal without the zeros at its end.
func trimmed(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
