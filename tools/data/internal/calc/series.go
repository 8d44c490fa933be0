package calc

import (
	"math"
	"math/big"
)

// Series are summed with integers that a power of two scales, after the argument was made
// small.

// maxAngle is the largest decimal exponent of an angle, since its turns are taken off with a
// pi of so many more digits.
const maxAngle = 100

// halvings is how often an argument is halved before its series is summed.
const halvings = 8

// spare is how many bits more than the machine's precision a series is calculated with.
const spare = 32

// fixed returns a value scaled by a power of two, rounded down.
func fixed(n number, bits uint) *big.Int {
	r := n.full()
	v := new(big.Int).Lsh(r.Num(), bits)
	return v.Div(v, r.Denom())
}

// unfixed returns a scaled integer as a value.
func (m *machine) unfixed(v *big.Int, bits uint) number {
	f := new(big.Float).SetPrec(m.prec).SetInt(v)
	return number{f: f.SetMantExp(f, -int(bits))}
}

func unit(bits uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), bits) }

// inverse sums the series of the arc tangent of 1/n, or of its hyperbolic form.
func inverse(n int64, bits uint, hyperbolic bool) *big.Int {
	term := unit(bits)
	term.Quo(term, big.NewInt(n))
	sum, square, part := new(big.Int).Set(term), big.NewInt(n*n), new(big.Int)
	for k := int64(3); term.Sign() != 0; k += 2 {
		term.Quo(term, square)
		part.Quo(term, big.NewInt(k))
		if k%4 == 3 && !hyperbolic {
			part.Neg(part)
		}
		sum.Add(sum, part)
	}
	return sum
}

// fixedPi is Machin's formula: pi/4 = 4 atan(1/5) - atan(1/239).
func fixedPi(bits uint) *big.Int {
	work := bits + 16
	pi := inverse(5, work, false)
	pi.Lsh(pi, 2)
	pi.Sub(pi, inverse(239, work, false))
	return pi.Rsh(pi, 14)
}

// fixedLn2 is ln 2 = 18 atanh(1/26) - 2 atanh(1/4801) + 8 atanh(1/8749).
func fixedLn2(bits uint) *big.Int {
	work := bits + 16
	sum := new(big.Int)
	for _, part := range [...]struct{ times, n int64 }{{18, 26}, {-2, 4801}, {8, 8749}} {
		term := inverse(part.n, work, true)
		sum.Add(sum, term.Mul(term, big.NewInt(part.times)))
	}
	return sum.Rsh(sum, 16)
}

// fixedExp is the exponential of a value from 0 to 1.
func fixedExp(x *big.Int, bits uint) *big.Int {
	work := bits + 2*halvings
	x = new(big.Int).Lsh(x, work-bits-halvings)
	term, sum := unit(work), unit(work)
	for k := int64(1); term.Sign() != 0; k++ {
		term.Mul(term, x).Rsh(term, work).Quo(term, big.NewInt(k))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum).Rsh(sum, work)
	}
	return sum.Rsh(sum, work-bits)
}

func (m *machine) exp(x number) (number, error) {
	if x.is(0) {
		return small(1), nil
	}
	switch e := x.bits(); {
	case e > 20 && x.sign() > 0:
		return number{}, tooLarge()
	case e > 20:
		return number{}, tooSmall()
	case e < -int(m.prec):
		return number{f: m.approximate(small(1))}, nil
	}
	bits := m.prec + spare
	times, rest := new(big.Int).DivMod(fixed(x, bits), fixedLn2(bits), new(big.Int))
	n := m.unfixed(fixedExp(rest, bits), bits)
	return m.inRange(n.f.SetMantExp(n.f, int(times.Int64())))
}

func (m *machine) ln(x number) (number, error) {
	if x.sign() <= 0 {
		return number{}, fail("only positive numbers have a logarithm")
	}
	if x.is(1) {
		return small(0), nil
	}
	// Near 1 the digits of x - 1 are the digits of the logarithm.
	y := ratio(new(big.Rat).Sub(x.full(), big.NewRat(1, 1)))
	lost := max(-y.bits(), 0)
	if lost > int(m.prec) { // ln(1 + y) = y - y²/2 + ...
		return m.mul(number{f: m.approximate(y)}, ratio(new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Quo(y.r, big.NewRat(2, 1)))))
	}
	bits := m.prec + spare + uint(lost)
	mantissa := new(big.Float).SetPrec(bits)
	exponent := new(big.Float).SetPrec(bits).SetRat(x.full()).MantExp(mantissa)
	if near, _ := mantissa.Float64(); near < math.Sqrt2/2 {
		mantissa.SetMantExp(mantissa, 1)
		exponent--
	}
	near, _ := mantissa.Float64()
	goal := fixed(number{f: mantissa}, bits)
	l := fixed(number{f: big.NewFloat(math.Log(near))}, bits)
	for right := uint(40); right < bits; right *= 3 { // Halley's method for e^l = goal
		e := expOf(l, bits)
		step := new(big.Int).Sub(goal, e)
		step.Lsh(step, bits+1).Quo(step, e.Add(e, goal))
		l.Add(l, step)
	}
	l.Add(l, new(big.Int).Mul(fixedLn2(bits), big.NewInt(int64(exponent))))
	return m.unfixed(l, bits), nil
}

// expOf is the exponential of a value between -1 and 1.
func expOf(x *big.Int, bits uint) *big.Int {
	if x.Sign() >= 0 {
		return fixedExp(x, bits)
	}
	e := fixedExp(new(big.Int).Neg(x), bits)
	return new(big.Int).Quo(unit(2*bits), e)
}

func (m *machine) pi() (number, error) { return m.scaledPi(1, 1) }

func (m *machine) scaledPi(times, part int64) (number, error) {
	if m.pis == nil {
		m.pis = m.unfixed(fixedPi(m.prec+spare), m.prec+spare).f
	}
	return m.mul(number{f: m.pis}, ratio(big.NewRat(times, part)))
}

// turn converts between degrees and radians.
func (m *machine) turn(x number, degrees bool) (number, error) {
	if x.is(0) {
		return x, nil
	}
	half, err := m.pi()
	if err != nil {
		return half, err
	}
	a, b := small(180), half
	if !degrees {
		a, b = b, a
	}
	n, err := m.mul(x, a)
	if err != nil {
		return n, err
	}
	return m.div(n, b)
}

// sinCos returns the sine and cosine of an angle.
func (m *machine) sinCos(x number) (sin, cos number, err error) {
	e := x.bits()
	switch {
	case e > inBits(maxAngle):
		return sin, cos, fail("the angle is over 1e%d", maxAngle)
	case e < -int(m.prec): // x is its own sine
		return number{f: m.approximate(x)}, number{f: m.approximate(small(1))}, nil
	}
	bits := m.prec + spare + uint(max(e, -e)) // small sines keep their digits
	half := new(big.Int).Rsh(fixedPi(bits), 1)
	quarter, rest := new(big.Int).DivMod(fixed(x, bits), half, new(big.Int))
	s, c := fixedSinCos(rest, bits)
	switch new(big.Int).And(quarter, big.NewInt(3)).Int64() {
	case 1:
		s, c = c, s.Neg(s)
	case 2:
		s, c = s.Neg(s), c.Neg(c)
	case 3:
		s, c = c.Neg(c), s
	}
	return m.zeroed(m.unfixed(s, bits), x), m.zeroed(m.unfixed(c, bits), x), nil
}

// zeroed returns 0 for a value that only the error of its angle keeps from it: the sine of pi.
func (m *machine) zeroed(n, angle number) number {
	if n.sign() == 0 || !angle.exact() && n.bits() < angle.bits()-m.lastBits() {
		return small(0)
	}
	return n
}

// fixedSinCos sums the series of an eighth of the angle's 2^-8th part, then doubles it back.
func fixedSinCos(x *big.Int, bits uint) (sin, cos *big.Int) {
	work := bits + 4*halvings
	x = new(big.Int).Lsh(x, work-bits-halvings)
	series := func(term *big.Int, k int64) *big.Int {
		sum := new(big.Int).Set(term)
		for ; term.Sign() != 0; k += 2 {
			term.Mul(term, x).Rsh(term, work).Mul(term, x).Rsh(term, work)
			term.Quo(term, big.NewInt((k+1)*(k+2))).Neg(term)
			if term.IsInt64() && term.Int64() >= -1 && term.Int64() <= 1 {
				break
			}
			sum.Add(sum, term)
		}
		return sum
	}
	s, c := series(new(big.Int).Set(x), 1), series(unit(work), 0)
	for range halvings { // sin 2x = 2 sin x cos x, cos 2x = 1 - 2 sin² x
		square := new(big.Int).Mul(s, s)
		square.Rsh(square, work-1)
		s.Mul(s, c).Rsh(s, work-1)
		c = new(big.Int).Sub(unit(work), square)
	}
	return s.Rsh(s, work-bits), c.Rsh(c, work-bits)
}

func (m *machine) sin(x number) (number, error) {
	if x.is(0) {
		return x, nil
	}
	s, _, err := m.sinCos(x)
	return s, err
}

func (m *machine) cos(x number) (number, error) {
	if x.is(0) {
		return small(1), nil
	}
	_, c, err := m.sinCos(x)
	return c, err
}

func (m *machine) tan(x number) (number, error) {
	if x.is(0) {
		return x, nil
	}
	s, c, err := m.sinCos(x)
	if err != nil {
		return s, err
	}
	if c.sign() == 0 {
		return number{}, fail("tan has no value at an odd multiple of pi/2")
	}
	return m.div(s, c)
}

// atan uses atan x = pi/2 - atan 1/x for large values, and halves the argument before it
// sums the series.
func (m *machine) atan(x number) (number, error) {
	if x.sign() == 0 {
		return small(0), nil
	}
	if x.sign() < 0 {
		n, err := m.atan(m.neg(x))
		if err != nil {
			return n, err
		}
		return m.neg(n), nil
	}
	if m.cmp(x, small(1)) > 0 {
		reciprocal, err := m.div(small(1), x)
		if err != nil {
			return reciprocal, err
		}
		if reciprocal, err = m.atan(reciprocal); err != nil {
			return reciprocal, err
		}
		half, err := m.scaledPi(1, 2)
		if err != nil {
			return half, err
		}
		return m.sub(half, reciprocal)
	}
	lost := max(-x.bits(), 0)
	if lost > int(m.prec) { // x is its own arc tangent
		return number{f: m.approximate(x)}, nil
	}
	bits := m.prec + spare + uint(lost) + 4*halvings
	v := fixed(x, bits)
	for range halvings { // atan x = 2 atan(x / (1 + sqrt(1 + x²)))
		root := new(big.Int).Mul(v, v)
		root.Add(root, unit(2*bits))
		root.Sqrt(root).Add(root, unit(bits))
		v.Lsh(v, bits).Quo(v, root)
	}
	square := new(big.Int).Mul(v, v)
	square.Rsh(square, bits)
	sum, term, part := new(big.Int).Set(v), v, new(big.Int)
	for k := int64(3); term.Sign() != 0; k += 2 {
		term.Mul(term, square).Rsh(term, bits)
		part.Quo(term, big.NewInt(k))
		if k%4 == 3 {
			part.Neg(part)
		}
		sum.Add(sum, part)
	}
	return m.unfixed(sum.Lsh(sum, halvings), bits), nil
}

func (m *machine) atan2(y, x number) (number, error) {
	switch {
	case x.sign() == 0 && y.sign() == 0:
		return small(0), nil
	case x.sign() == 0:
		return m.scaledPi(int64(y.sign()), 2)
	}
	q, err := m.div(y, x)
	if err != nil {
		return q, err
	}
	a, err := m.atan(q)
	if err != nil || x.sign() > 0 {
		return a, err
	}
	side := int64(1)
	if y.sign() < 0 {
		side = -1
	}
	half, err := m.scaledPi(side, 1)
	if err != nil {
		return half, err
	}
	return m.add(a, half)
}

// asin x is atan(x / sqrt(1 - x²)).
func (m *machine) asin(x number) (number, error) {
	switch {
	case x.is(1):
		return m.scaledPi(1, 2)
	case x.is(-1):
		return m.scaledPi(-1, 2)
	}
	root, err := m.legOf(x)
	if err != nil {
		return root, err
	}
	return m.atan2(x, root)
}

func (m *machine) acos(x number) (number, error) {
	switch {
	case x.is(1):
		return small(0), nil
	case x.is(-1):
		return m.pi()
	}
	root, err := m.legOf(x)
	if err != nil {
		return root, err
	}
	return m.atan2(root, x)
}

// legOf returns sqrt(1 - x²).
func (m *machine) legOf(x number) (number, error) {
	r, one := m.rational(x), big.NewRat(1, 1)
	if r.Cmp(one) > 0 || r.Cmp(new(big.Rat).Neg(one)) < 0 {
		return number{}, fail("%s is not between -1 and 1", m.shown(x))
	}
	below, above := new(big.Rat).Sub(one, r), new(big.Rat).Add(one, r)
	square, err := m.fits(below.Mul(below, above))
	if err != nil {
		return square, err
	}
	return m.sqrt(square)
}

// widened returns a machine with more bits, for functions in which some are cancelled.
func (m *machine) widened(by int) *machine {
	w := newMachine(m.ctx, m.precision, m.guard)
	w.prec += uint(max(by, 0)) + spare
	return w
}

// narrowed returns a value of a machine with more digits as one of this.
func (m *machine) narrowed(n number, err error) (number, error) {
	if err == nil && !n.exact() {
		n.f = m.approximate(n)
	}
	return n, err
}

// halves returns (e^x + sign e^-x) / 2.
func (m *machine) halves(x number, sign int) (number, error) {
	if x.sign() < 0 {
		n, err := m.halves(m.neg(x), sign)
		if err == nil && sign < 0 {
			n = m.neg(n)
		}
		return n, err
	}
	up, err := m.exp(x)
	if err != nil {
		return up, err
	}
	down, err := m.div(small(1), up)
	if err != nil {
		return down, err
	}
	if sign < 0 {
		down = m.neg(down)
	}
	sum, err := m.add(up, down)
	if err != nil {
		return sum, err
	}
	return m.div(sum, small(2))
}

// hyperbolic calculates with the digits that the function cancels.
func (m *machine) hyperbolic(x number, run func(w *machine) (number, error)) (number, error) {
	if x.is(0) {
		return x, nil
	}
	lost := max(-2*x.bits(), 0)
	if lost > 2*int(m.prec) { // x is its own value
		return number{f: m.approximate(x)}, nil
	}
	return m.narrowed(run(m.widened(lost)))
}

func (m *machine) sinh(x number) (number, error) {
	return m.hyperbolic(x, func(w *machine) (number, error) { return w.halves(x, -1) })
}

func (m *machine) cosh(x number) (number, error) {
	if x.is(0) {
		return small(1), nil
	}
	return m.halves(x, 1)
}

func (m *machine) tanh(x number) (number, error) {
	if x.bits() > 13 { // it is 1 in all digits that there may be
		return number{f: m.approximate(small(int64(x.sign())))}, nil
	}
	return m.hyperbolic(x, func(w *machine) (number, error) {
		s, err := w.halves(x, -1)
		if err != nil {
			return s, err
		}
		c, err := w.halves(x, 1)
		if err != nil {
			return c, err
		}
		return w.div(s, c)
	})
}

// asinh x is ln(x + sqrt(x² + 1)).
func (m *machine) asinh(x number) (number, error) {
	if x.sign() < 0 {
		n, err := m.asinh(m.neg(x))
		if err != nil {
			return n, err
		}
		return m.neg(n), nil
	}
	return m.hyperbolic(x, func(w *machine) (number, error) { return w.area(x, small(1)) })
}

// acosh x is ln(x + sqrt(x² - 1)).
func (m *machine) acosh(x number) (number, error) {
	if m.cmp(x, small(1)) < 0 {
		return x, fail("%s is less than 1", m.shown(x))
	}
	if x.is(1) {
		return small(0), nil
	}
	w := m.widened(int(m.prec))
	return m.narrowed(w.area(x, small(-1)))
}

// area returns ln(x + sqrt(x² + c)).
func (m *machine) area(x, c number) (number, error) {
	n, err := m.mul(x, x)
	if err != nil {
		return n, err
	}
	if n, err = m.add(n, c); err != nil {
		return n, err
	}
	if n, err = m.sqrt(n); err != nil {
		return n, err
	}
	if n, err = m.add(x, n); err != nil {
		return n, err
	}
	return m.ln(n)
}

// atanh x is ln((1 + x) / (1 - x)) / 2.
func (m *machine) atanh(x number) (number, error) {
	if r := m.rational(x); new(big.Rat).Abs(r).Cmp(big.NewRat(1, 1)) >= 0 {
		return x, fail("%s is not between -1 and 1", m.shown(x))
	}
	return m.hyperbolic(x, func(w *machine) (number, error) {
		above, err := w.add(small(1), x)
		if err != nil {
			return above, err
		}
		below, err := w.sub(small(1), x)
		if err != nil {
			return below, err
		}
		q, err := w.div(above, below)
		if err != nil {
			return q, err
		}
		if q, err = w.ln(q); err != nil {
			return q, err
		}
		return w.div(q, small(2))
	})
}
