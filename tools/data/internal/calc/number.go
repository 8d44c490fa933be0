package calc

import (
	"context"
	"fmt"
	"math"
	"math/big"
)

// maxBits is how many bits a number of MaxDigits digits has.
const maxBits = MaxDigits * 3322 / 1000

// number is a value: an exact rational, or an approximation of the machine's precision.
type number struct {
	r *big.Rat
	f *big.Float
}

func ratio(r *big.Rat) number    { return number{r: r} }
func whole(i *big.Int) number    { return number{r: new(big.Rat).SetInt(i)} }
func small(i int64) number       { return number{r: big.NewRat(i, 1)} }
func (n number) exact() bool     { return n.r != nil }
func (n number) is(i int64) bool { return n.r != nil && n.r.Cmp(big.NewRat(i, 1)) == 0 }

func (n number) sign() int {
	if n.r != nil {
		return n.r.Sign()
	}
	return n.f.Sign()
}

// full returns a value with all its digits, guard digits too.
func (n number) full() *big.Rat {
	if n.r != nil {
		return n.r
	}
	r, _ := n.f.Rat(nil)
	return r
}

// bits is the binary exponent of a value: 2**bits is at most twice above it.
func (n number) bits() int {
	if n.r != nil {
		return n.r.Num().BitLen() - n.r.Denom().BitLen() + 1
	}
	return n.f.MantExp(nil)
}

// machine calculates with a precision.
type machine struct {
	ctx       context.Context
	precision int        // of the result, in digits
	guard     int        // digits beyond it
	wanted    int        // guard digits that would have been needed
	prec      uint       // of approximations, in bits, with the guard digits
	pis       *big.Float // kept once it is known
}

// inBits returns how many bits so many digits have.
func inBits(digits int) int { return digits*3322/1000 + 1 }

func newMachine(ctx context.Context, precision, guard int) *machine {
	return &machine{ctx: ctx, precision: precision, guard: guard, prec: uint(inBits(precision + guard))}
}

// need notes that so many digits were lost.
func (m *machine) need(lost int) {
	if lost > guard/2 {
		m.wanted = max(m.wanted, 2*lost+guard)
	}
}

func tooLarge() error {
	return &Error{Msg: fmt.Sprintf("the value has more than %d digits", MaxDigits), Hint: "use smaller numbers, or compare logarithms"}
}

func tooSmall() error { return fail("the value is nearer to zero than 1e-%d", MaxDigits) }

// approximate returns a value with the machine's precision.
func (m *machine) approximate(n number) *big.Float {
	f := new(big.Float).SetPrec(m.prec)
	if n.f != nil {
		return f.Set(n.f)
	}
	return f.SetRat(n.r)
}

// inRange returns an approximation as a value, if it is neither too large nor too small.
func (m *machine) inRange(f *big.Float) (number, error) {
	switch e := f.MantExp(nil); {
	case f.IsInf(), e > maxBits:
		return number{}, tooLarge()
	case f.Sign() == 0:
		return small(0), nil
	case e < -maxBits:
		return number{}, tooSmall()
	}
	return number{f: f}, nil
}

// rational returns the exact value of a number. An approximation loses its last guard digits,
// in which errors gather: the root of 2 squared is 2.
func (m *machine) rational(n number) *big.Rat {
	if n.r != nil {
		return n.r
	}
	r := n.full()
	m.need(magnitude(r) + 1)
	return roundEven(r, m.precision+m.guard/2-magnitude(r))
}

// fits returns an exact value, or an approximation in its place if its fraction is too long.
func (m *machine) fits(r *big.Rat) (number, error) {
	switch num, den := r.Num().BitLen(), r.Denom().BitLen(); {
	case num-den > maxBits:
		return number{}, tooLarge()
	case num > maxBits || den > maxBits:
		return m.inRange(m.approximate(ratio(r)))
	}
	return ratio(r), nil
}

func (m *machine) add(a, b number) (number, error) {
	if a.exact() && b.exact() {
		return m.fits(new(big.Rat).Add(a.r, b.r))
	}
	x, y := m.approximate(a), m.approximate(b)
	sum := new(big.Float).SetPrec(m.prec).Add(x, y)
	if x.Sign() == 0 || y.Sign() == 0 {
		return m.inRange(sum)
	}
	// What is left of two nearly equal approximations may be the errors of both. It is, if even
	// many more digits leave nothing.
	const many = 4 * guard
	lost := m.lastBits() + 1
	if sum.Sign() != 0 {
		lost = max(x.MantExp(nil), y.MantExp(nil)) - sum.MantExp(nil)
	}
	if lost > m.lastBits() {
		if m.guard < many {
			m.wanted = max(m.wanted, many)
		}
		return small(0), nil
	}
	m.need(lost * 1000 / 3322)
	return m.inRange(sum)
}

// lastBits is how many bits of an approximation are right.
func (m *machine) lastBits() int { return int(m.prec) - inBits(4) }

func (m *machine) neg(a number) number {
	if a.exact() {
		return ratio(new(big.Rat).Neg(a.r))
	}
	return number{f: new(big.Float).Neg(a.f)}
}

func (m *machine) sub(a, b number) (number, error) { return m.add(a, m.neg(b)) }

func (m *machine) mul(a, b number) (number, error) {
	if a.exact() && b.exact() {
		return m.fits(new(big.Rat).Mul(a.r, b.r))
	}
	return m.inRange(new(big.Float).SetPrec(m.prec).Mul(m.approximate(a), m.approximate(b)))
}

func (m *machine) div(a, b number) (number, error) {
	if b.sign() == 0 {
		return number{}, fail("division by zero")
	}
	if a.exact() && b.exact() {
		return m.fits(new(big.Rat).Quo(a.r, b.r))
	}
	return m.inRange(new(big.Float).SetPrec(m.prec).Quo(m.approximate(a), m.approximate(b)))
}

// floorDiv is Python's //: the quotient, rounded down.
func (m *machine) floorDiv(a, b number) (number, error) {
	q, err := m.div(a, b)
	if err != nil {
		return number{}, err
	}
	return m.floor(q)
}

// mod is Python's %: what // leaves, with the sign of the divisor.
func (m *machine) mod(a, b number) (number, error) {
	q, err := m.floorDiv(a, b)
	if err != nil {
		return number{}, err
	}
	back, err := m.mul(q, b)
	if err != nil {
		return number{}, err
	}
	return m.sub(a, back)
}

func (m *machine) floor(n number) (number, error) {
	r := m.rational(n)
	return m.fits(new(big.Rat).SetInt(new(big.Int).Div(r.Num(), r.Denom())))
}

func (m *machine) cmp(a, b number) int { return m.rational(a).Cmp(m.rational(b)) }

// pow is Python's **.
func (m *machine) pow(a, b number) (number, error) {
	switch {
	case b.is(0), a.is(1):
		return small(1), nil
	case a.sign() == 0 && b.sign() < 0:
		return number{}, fail("zero cannot be raised to a negative power")
	case a.sign() == 0:
		return small(0), nil
	}
	if b.exact() && b.r.IsInt() {
		return m.integerPower(a, b)
	}
	if a.sign() < 0 {
		return number{}, fail("a negative number has no real power %s", m.shown(b))
	}
	p, err := m.powerOf(a, b)
	if err != nil || !a.exact() || !b.exact() || b.r.Denom().BitLen() > 8 || b.r.Num().BitLen() > 16 {
		return p, err
	}
	// An exact root is exact: 8**(1/3) is 2.
	root := m.rational(p)
	left, ok := power(root, b.r.Denom())
	right, ok2 := power(a.r, b.r.Num())
	if ok && ok2 && left.Cmp(right) == 0 {
		return ratio(root), nil
	}
	return p, nil
}

func (m *machine) integerPower(a, b number) (number, error) {
	if a.exact() {
		if r, ok := power(a.r, b.r.Num()); ok {
			return m.fits(r)
		}
		if b.sign() > 0 && a.r.IsInt() {
			return number{}, tooLarge()
		}
	}
	if a.sign() < 0 {
		p, err := m.powerOf(m.neg(a), b)
		if err == nil && b.r.Num().Bit(0) == 1 {
			p = m.neg(p)
		}
		return p, err
	}
	return m.powerOf(a, b)
}

// powerOf returns the power of a positive value by its logarithm, with as many more digits as
// the exponent has, which multiplies the error.
func (m *machine) powerOf(a, b number) (number, error) {
	const most = 100
	if b.bits() > inBits(most) {
		return number{}, fail("the exponent is over 1e%d", most)
	}
	w := m.widened(b.bits())
	l, err := w.ln(a)
	if err != nil {
		return l, err
	}
	if l, err = w.mul(l, b); err != nil {
		return l, err
	}
	return m.narrowed(w.exp(l))
}

// power returns an exact power, if it has at most about twice the digits that a value may have.
func power(r *big.Rat, n *big.Int) (*big.Rat, bool) {
	if r.IsInt() && r.Num().BitLen() == 1 { // 1 and -1
		p := big.NewRat(1, 1)
		if r.Sign() < 0 && n.Bit(0) == 1 {
			p.Neg(p)
		}
		return p, true
	}
	bits := max(r.Num().BitLen(), r.Denom().BitLen()) - 1
	if !n.IsInt64() || math.Abs(float64(n.Int64()))*float64(max(bits, 1)) > maxBits+64 {
		return nil, false
	}
	e := new(big.Int).Abs(n)
	num, den := new(big.Int).Exp(r.Num(), e, nil), new(big.Int).Exp(r.Denom(), e, nil)
	if n.Sign() < 0 {
		num, den = den, num
	}
	return new(big.Rat).SetFrac(num, den), true
}

// shown is a value for an error.
func (m *machine) shown(n number) string {
	res, err := m.write(n, Options{Precision: 10})
	if err != nil || len(res.Text) > 40 {
		return "as large as this"
	}
	return res.Text
}
