package calc

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"sync"
)

// function is one that expressions may call.
type function struct {
	least, most int // arguments; most < 0 = any number
	run         func(m *machine, args []number) (number, error)
}

func (f function) counts() string {
	switch {
	case f.most < 0 && f.least == 1:
		return "at least one argument"
	case f.most < 0:
		return "at least " + strconv.Itoa(f.least) + " arguments"
	case f.most == 1:
		return "one argument"
	case f.least == f.most:
		return strconv.Itoa(f.least) + " arguments"
	}
	return strconv.Itoa(f.least) + " or " + strconv.Itoa(f.most) + " arguments"
}

var constants = map[string]func(m *machine) (number, error){
	"pi":  func(m *machine) (number, error) { return m.pi() },
	"tau": func(m *machine) (number, error) { return m.scaledPi(2, 1) },
	"e":   func(m *machine) (number, error) { return m.exp(small(1)) },
}

// functions are made at the first call: most servers never calculate.
var functions = sync.OnceValue(func() map[string]function {
	return map[string]function{
		"sqrt":  one((*machine).sqrt),
		"cbrt":  one((*machine).cbrt),
		"isqrt": one((*machine).isqrt),
		"exp":   one((*machine).exp),
		"ln":    one((*machine).ln),
		"log":   {1, 2, logarithm},
		"log10": one(func(m *machine, x number) (number, error) { return m.logBase(x, small(10)) }),
		"log2":  one(func(m *machine, x number) (number, error) { return m.logBase(x, small(2)) }),
		"pow":   {2, 3, raised},
		"hypot": {1, -1, hypotenuse},

		"sin":     one((*machine).sin),
		"cos":     one((*machine).cos),
		"tan":     one((*machine).tan),
		"asin":    one((*machine).asin),
		"acos":    one((*machine).acos),
		"atan":    one((*machine).atan),
		"atan2":   {2, 2, func(m *machine, a []number) (number, error) { return m.atan2(a[0], a[1]) }},
		"sinh":    one((*machine).sinh),
		"cosh":    one((*machine).cosh),
		"tanh":    one((*machine).tanh),
		"asinh":   one((*machine).asinh),
		"acosh":   one((*machine).acosh),
		"atanh":   one((*machine).atanh),
		"degrees": one(func(m *machine, x number) (number, error) { return m.turn(x, true) }),
		"radians": one(func(m *machine, x number) (number, error) { return m.turn(x, false) }),

		"abs":   one((*machine).abs),
		"sign":  one(func(_ *machine, x number) (number, error) { return small(int64(x.sign())), nil }),
		"round": {1, 2, round},
		"floor": one((*machine).floor),
		"ceil":  one((*machine).ceil),
		"trunc": one((*machine).trunc),
		"int":   one((*machine).trunc),

		"factorial": one((*machine).factorial),
		"gcd":       {1, -1, integers(func(z, x, y *big.Int) { z.GCD(nil, nil, x, y) })},
		"lcm":       {1, -1, integers(lcm)},
		"comb":      {2, 2, func(m *machine, a []number) (number, error) { return m.choose(a[0], a[1], true) }},
		"perm":      {1, 2, permutations},

		"min":       {1, -1, func(m *machine, a []number) (number, error) { return m.extreme(a, -1) }},
		"max":       {1, -1, func(m *machine, a []number) (number, error) { return m.extreme(a, 1) }},
		"sum":       {0, -1, (*machine).sum},
		"prod":      {0, -1, (*machine).product},
		"mean":      {1, -1, (*machine).mean},
		"median":    {1, -1, (*machine).median},
		"variance":  {2, -1, func(m *machine, a []number) (number, error) { return m.variance(a, 1) }},
		"pvariance": {1, -1, func(m *machine, a []number) (number, error) { return m.variance(a, 0) }},
		"stdev":     {2, -1, func(m *machine, a []number) (number, error) { return m.deviation(a, 1) }},
		"pstdev":    {1, -1, func(m *machine, a []number) (number, error) { return m.deviation(a, 0) }},
	}
})

// Functions returns the names of all functions.
func Functions() []string { return slices.Sorted(maps.Keys(functions())) }

// Constants returns the names of all constants.
func Constants() []string { return slices.Sorted(maps.Keys(constants)) }

func one(run func(m *machine, x number) (number, error)) function {
	return function{1, 1, func(m *machine, args []number) (number, error) { return run(m, args[0]) }}
}

// whole returns the integer that a value is.
func (m *machine) whole(n number) (*big.Int, error) {
	r := m.rational(n)
	if !r.IsInt() {
		return nil, fail("%s is no integer", m.shown(n))
	}
	return r.Num(), nil
}

// count returns a value that says how many, from 0 to most.
func (m *machine) count(n number, most int64) (int64, error) {
	i, err := m.whole(n)
	if err != nil {
		return 0, err
	}
	if !i.IsInt64() || i.Int64() < 0 || i.Int64() > most {
		return 0, fail("%s is not between 0 and %d", m.shown(n), most)
	}
	return i.Int64(), nil
}

func (m *machine) abs(x number) (number, error) {
	if x.sign() < 0 {
		return m.neg(x), nil
	}
	return x, nil
}

func (m *machine) ceil(x number) (number, error) {
	n, err := m.floor(m.neg(x))
	if err != nil {
		return n, err
	}
	return m.neg(n), nil
}

func (m *machine) trunc(x number) (number, error) {
	if x.sign() < 0 {
		return m.ceil(x)
	}
	return m.floor(x)
}

// round rounds half to even, as Python does, but what was written: round(2.675, 2) is 2.68.
func round(m *machine, args []number) (number, error) {
	digits := big.NewInt(0)
	if len(args) == 2 {
		var err error
		if digits, err = m.whole(args[1]); err != nil {
			return number{}, err
		}
		if !digits.IsInt64() || digits.Int64() > MaxScale || digits.Int64() < -MaxScale {
			return number{}, fail("%s digits are over %d", digits, MaxScale)
		}
	}
	r := m.rational(args[0])
	if !args[0].exact() {
		m.need(magnitude(r) + 1 + int(digits.Int64()))
	}
	return m.fits(roundEven(r, int(digits.Int64())))
}

func (m *machine) factorial(x number) (number, error) {
	const most = 3248 // the last with at most MaxDigits digits
	n, err := m.count(x, most)
	if err != nil {
		return number{}, err
	}
	return whole(new(big.Int).MulRange(1, n)), nil
}

func raised(m *machine, args []number) (number, error) {
	if len(args) == 2 {
		return m.pow(args[0], args[1])
	}
	return m.powMod(args[0], args[1], args[2])
}

// powMod returns a power modulo an integer, with the sign of that. A negative exponent is one of
// the inverse.
func (m *machine) powMod(a, b, c number) (number, error) {
	var ints [3]*big.Int
	for i, n := range []number{a, b, c} {
		var err error
		if ints[i], err = m.whole(n); err != nil {
			return number{}, err
		}
	}
	exponent, modulus := ints[1], ints[2]
	if modulus.Sign() == 0 {
		return number{}, fail("division by zero")
	}
	base := new(big.Int).Mod(ints[0], modulus)
	if exponent.Sign() < 0 && base.ModInverse(base, new(big.Int).Abs(modulus)) == nil {
		return number{}, fail("%s has no inverse modulo %s", m.shown(a), m.shown(c))
	}
	exponent = new(big.Int).Abs(exponent)
	result := new(big.Int).Mod(big.NewInt(1), modulus)
	for i := exponent.BitLen() - 1; i >= 0; i-- { // Exp cannot be interrupted
		if err := m.ctx.Err(); err != nil {
			return number{}, err
		}
		result.Mod(result.Mul(result, result), modulus)
		if exponent.Bit(i) == 1 {
			result.Mod(result.Mul(result, base), modulus)
		}
	}
	if modulus.Sign() < 0 && result.Sign() > 0 {
		result.Add(result, modulus)
	}
	return whole(result), nil
}

func lcm(z, x, y *big.Int) {
	divisor := new(big.Int).GCD(nil, nil, x, y)
	if divisor.Sign() == 0 {
		z.SetInt64(0)
		return
	}
	z.Abs(z.Mul(x, new(big.Int).Quo(y, divisor)))
}

func integers(op func(z, x, y *big.Int)) func(m *machine, args []number) (number, error) {
	return func(m *machine, args []number) (number, error) {
		var result *big.Int
		for _, a := range args {
			i, err := m.whole(a)
			if err != nil {
				return number{}, err
			}
			i = new(big.Int).Abs(i)
			if result == nil {
				result = i
				continue
			}
			z := new(big.Int)
			op(z, result, i)
			if result = z; result.BitLen() > maxBits {
				return number{}, tooLarge()
			}
			if err := m.ctx.Err(); err != nil {
				return number{}, err
			}
		}
		return whole(result), nil
	}
}

// choose returns how many ways there are to choose k of n, unordered or ordered.
func (m *machine) choose(a, b number, unordered bool) (number, error) {
	n, err := m.whole(a)
	if err != nil {
		return number{}, err
	}
	k, err := m.whole(b)
	if err != nil {
		return number{}, err
	}
	if n.Sign() < 0 || k.Sign() < 0 {
		return number{}, fail("the arguments must not be negative")
	}
	if k.Cmp(n) > 0 {
		return small(0), nil
	}
	if other := new(big.Int).Sub(n, k); unordered && other.Cmp(k) < 0 {
		k = other
	}
	if !k.IsInt64() || k.Int64() > maxBits {
		return number{}, tooLarge()
	}
	product, step := big.NewInt(1), new(big.Int)
	for i := range k.Int64() {
		product.Mul(product, step.Sub(n, step.SetInt64(i)))
		if unordered {
			product.Quo(product, step.SetInt64(i+1))
		}
		if product.BitLen() > maxBits {
			return number{}, tooLarge()
		}
		if err := m.ctx.Err(); err != nil {
			return number{}, err
		}
	}
	return whole(product), nil
}

func permutations(m *machine, args []number) (number, error) {
	if len(args) == 1 {
		return m.factorial(args[0])
	}
	return m.choose(args[0], args[1], false)
}

// ranked is a value and the exact one by which it is compared.
type ranked struct {
	number
	by *big.Rat
}

// ranked makes the exact values once, since that takes longer than comparing them.
func (m *machine) ranked(args []number) ([]ranked, error) {
	all := make([]ranked, len(args))
	for i, a := range args {
		if err := m.ctx.Err(); err != nil {
			return nil, err
		}
		all[i] = ranked{a, m.rational(a)}
	}
	return all, nil
}

func (m *machine) extreme(args []number, wanted int) (number, error) {
	all, err := m.ranked(args)
	if err != nil {
		return number{}, err
	}
	best := all[0]
	for _, a := range all[1:] {
		if a.by.Cmp(best.by) == wanted {
			best = a
		}
	}
	return best.number, nil
}

func (m *machine) fold(start int64, args []number, op func(a, b number) (number, error)) (number, error) {
	result := small(start)
	for _, a := range args {
		err := m.ctx.Err()
		if err != nil {
			return number{}, err
		}
		if result, err = op(result, a); err != nil {
			return number{}, err
		}
	}
	return result, nil
}

func (m *machine) sum(args []number) (number, error)     { return m.fold(0, args, m.add) }
func (m *machine) product(args []number) (number, error) { return m.fold(1, args, m.mul) }

func (m *machine) mean(args []number) (number, error) {
	s, err := m.sum(args)
	if err != nil {
		return number{}, err
	}
	return m.div(s, small(int64(len(args))))
}

func (m *machine) median(args []number) (number, error) {
	all, err := m.ranked(args)
	if err != nil {
		return number{}, err
	}
	slices.SortFunc(all, func(a, b ranked) int {
		if m.ctx.Err() != nil {
			return 0 // the order does not matter any more
		}
		return a.by.Cmp(b.by)
	})
	if err := m.ctx.Err(); err != nil {
		return number{}, err
	}
	if n := len(all); n%2 == 0 {
		return m.mean([]number{all[n/2-1].number, all[n/2].number})
	}
	return all[len(all)/2].number, nil
}

// variance is that of a sample (less = 1) or of a whole population (less = 0).
func (m *machine) variance(args []number, less int) (number, error) {
	mean, err := m.mean(args)
	if err != nil {
		return number{}, err
	}
	squares, err := m.fold(0, args, func(sum, a number) (number, error) {
		d, err := m.sub(a, mean)
		if err != nil {
			return d, err
		}
		if d, err = m.mul(d, d); err != nil {
			return d, err
		}
		return m.add(sum, d)
	})
	if err != nil {
		return number{}, err
	}
	return m.div(squares, small(int64(len(args)-less)))
}

func (m *machine) deviation(args []number, less int) (number, error) {
	v, err := m.variance(args, less)
	if err != nil {
		return number{}, err
	}
	return m.sqrt(v)
}

func hypotenuse(m *machine, args []number) (number, error) {
	squares, err := m.fold(0, args, func(sum, a number) (number, error) {
		square, err := m.mul(a, a)
		if err != nil {
			return square, err
		}
		return m.add(sum, square)
	})
	if err != nil {
		return number{}, err
	}
	return m.sqrt(squares)
}

func (m *machine) sqrt(x number) (number, error) {
	if x.sign() < 0 {
		return number{}, fail("a negative number has no real square root")
	}
	if x.exact() {
		num, den := new(big.Int).Sqrt(x.r.Num()), new(big.Int).Sqrt(x.r.Denom())
		root := new(big.Rat).SetFrac(num, den)
		if new(big.Rat).Mul(root, root).Cmp(x.r) == 0 {
			return ratio(root), nil
		}
	}
	return number{f: new(big.Float).SetPrec(m.prec).Sqrt(m.approximate(x))}, nil
}

func (m *machine) cbrt(x number) (number, error) {
	if x.sign() < 0 {
		root, err := m.cbrt(m.neg(x))
		if err != nil {
			return root, err
		}
		return m.neg(root), nil
	}
	return m.pow(x, ratio(big.NewRat(1, 3)))
}

func (m *machine) isqrt(x number) (number, error) {
	i, err := m.whole(x)
	if err != nil {
		return number{}, err
	}
	if i.Sign() < 0 {
		return number{}, fail("a negative number has no real square root")
	}
	return whole(new(big.Int).Sqrt(i)), nil
}

func logarithm(m *machine, args []number) (number, error) {
	if len(args) == 1 {
		return m.ln(args[0])
	}
	return m.logBase(args[0], args[1])
}

// logBase returns a logarithm, exact where it is an integer.
func (m *machine) logBase(x, base number) (number, error) {
	if base.is(1) {
		return number{}, fail("the base of a logarithm is not 1")
	}
	a, err := m.ln(x)
	if err != nil {
		return number{}, err
	}
	b, err := m.ln(base)
	if err != nil {
		return number{}, err
	}
	l, err := m.div(a, b)
	if err != nil || !x.exact() || !base.exact() {
		return l, err
	}
	if i, err := m.whole(l); err == nil {
		if p, ok := power(base.r, i); ok && p.Cmp(x.r) == 0 {
			return whole(i), nil
		}
	}
	return l, nil
}
