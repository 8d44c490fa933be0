package calc_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/data/internal/calc"
)

func TestEval(t *testing.T) {
	const rounded = " ~" // ends the value of what was rounded
	for expression, want := range map[string]string{
		// exact
		"0.1+0.2": "0.3", "7//2": "3", "-7//3": "-3", "7//-3": "-3", "-7%3": "2", "7%-3": "-2", "-7.5//2": "-4", "-7.5%2": "0.5",
		"2**100": "1267650600228229401496703205376", "2**-3": "0.125", "-2**2": "-4", "2**3**2": "512", "2**-1**2": "0.5", "--3": "3", "-+-3": "3",
		"1/3*3": "1", "1/3+1/3+1/3": "1", "12345678901234567890*98765432109876543210": "1219326311370217952237463801111263526900",
		"0**0": "1", "1**(10**30)": "1", "(-1)**(10**30+1)": "-1", "10-2-3": "5", "2*3%4": "2", "100/10/2": "5", "1.05**10": "1.62889462677744140625",
		"0xff+0o17+0b101": "275", "1_000.5": "1000.5", ".5+5.": "5.5", "1e3": "1000", "1E-3": "0.001", "3×4−2÷1": "10", "10**-30": "1e-30",
		"50%+3": "2", // as Python reads it
		// exact though a function gave it
		"sqrt(16)": "4", "sqrt(0.25)": "0.5", "8**(1/3)": "2", "4**-0.5": "0.5", "cbrt(27)": "3", "log2(8)": "3", "log10(1000)": "3", "log(8,2)": "3", "log(0.125,2)": "-3",
		"sqrt(2)**2": "2" + rounded, "sqrt(2)**2-2": "0", "sin(0)": "0", "cos(0)": "1", "exp(0)": "1", "ln(1)": "0", "sin(pi)": "0", "cos(pi/2)": "0",
		"factorial(20)": "2432902008176640000", "comb(52,5)": "2598960", "comb(3,5)": "0", "perm(5,2)": "20", "perm(4)": "24", "gcd(12,-18)": "6", "lcm(4,6)": "12", "lcm(0,6)": "0",
		"pow(3,4,5)": "1", "pow(2,10**9,1_000_007)": "164772", "pow(-3,3,5)": "3", "pow(3,4,-5)": "-4", "pow(3,-1,7)": "5", "pow(3,-2,-7)": "-3", "pow(2,0,1)": "0", "pow(2,0,-1)": "0",
		"min(3,1,2)": "1", "max([3,1,2])": "3", "sum([])": "0", "sum([1,2],3,)": "6", "prod(2,3)": "6", "mean([1,2,4,5])": "3", "median(1,3,2,4)": "2.5", "median(3,1,2)": "2", "pvariance(1,2,3,4)": "1.25", "hypot(3,4)": "5",
		"round(2.5)": "2", "round(3.5)": "4", "round(-2.5)": "-2", "round(2.675,2)": "2.68", "round(1234,-2)": "1200", "round(1250,-2)": "1200",
		"floor(-1.5)": "-2", "ceil(1.2)": "2", "trunc(-1.9)": "-1", "int(2.9)": "2", "abs(-3)": "3", "sign(-3)": "-1", "isqrt(17)": "4", "math.floor(log10(1000))": "3",
		"floor(sqrt(2)**2)": "2",
		// rounded; the digits are known ones
		"1/3": "0.3333333333333333333333333333333333" + rounded, "2/3": "0.6666666666666666666666666666666667" + rounded, "2**0.5": "1.414213562373095048801688724209698" + rounded,
		"pi": "3.141592653589793238462643383279503" + rounded, "e": "2.718281828459045235360287471352662" + rounded, "tau/2-pi": "0",
		"ln(2)": "0.6931471805599453094172321214581766" + rounded, "log10(2)": "0.3010299956639811952137388947244930" + rounded,
		"exp(100)": "2.688117141816135448412625551580014e43" + rounded, "1/3*1e20": "33333333333333333333.33333333333333" + rounded,
		"sin(1)": "0.8414709848078965066525023216302990" + rounded, "cos(1)": "0.5403023058681397174009366074429766" + rounded, "tan(1)": "1.557407724654902230506974807458360" + rounded,
		"atan(1)*4": "3.141592653589793238462643383279503" + rounded, "acos(-1)": "3.141592653589793238462643383279503" + rounded, "atan2(1,-1)*4/3": "3.141592653589793238462643383279503" + rounded,
		"sinh(1)": "1.175201193643801456882381850595601" + rounded, "cosh(-1)": "1.543080634815243778477905620757062" + rounded, "tanh(0.5)": "0.4621171572600097585023184836436725" + rounded,
		"sinh(1e-20)": "1e-20" + rounded, "asinh(sinh(1))": "1" + rounded, "acosh(cosh(2))": "2" + rounded, "atanh(tanh(0.5))": "0.5" + rounded,
		"ln(1+1e-60)": "1e-60" + rounded, "(1+1e-60)**(10**60)-e": "-1.359140914229522617680143735676331e-60" + rounded, "exp(1e-48)-1": "1e-48" + rounded,
		// digits that are lost on the way are calculated
		"floor(sqrt(2)*10**60)": "1414213562373095048801688724209698078569671875376948073176679", "sqrt(2)*10**50 % 7": "6.807317667973799073247846210703885" + rounded, "0-sqrt(2)*1e-60": "-1.414213562373095048801688724209698e-60" + rounded, "degrees(pi)": "180" + rounded, "radians(180)-pi": "0", "exp(ln(10))": "10" + rounded,
		"stdev(2,4,4,4,5,5,7,9)": "2.138089935299395077476427847038028" + rounded,
	} {
		got, err := calc.Eval(t.Context(), expression, calc.Options{Precision: 34})
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		text := got.Text
		if got.Rounded {
			text += rounded
		}
		if text != trimmed(want) {
			t.Errorf("%s: got %s, want %s", expression, text, trimmed(want))
		}
	}
}

// trimmed takes off the zeros that complete a known value to 34 digits.
func trimmed(want string) string {
	value, cut := strings.CutSuffix(want, " ~")
	if !cut {
		return want
	}
	if strings.Contains(value, ".") && !strings.Contains(value, "e") {
		value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
	}
	return value + " ~"
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		expression, want string
		scale            int
		rounded          bool
	}{
		{"1/3", "0.33", 2, true}, {"0.1+0.2", "0.30", 2, false}, {"2.5", "2", 0, true}, {"3.5", "4", 0, true}, {"-0.001", "0.00", 2, true},
		{"pi", "3.1416", 4, true}, {"10", "10.000", 3, false}, {"1/7", "0.142857142857142857142857142857142857142857142857142857142857", 60, true},
	} {
		got, err := calc.Eval(t.Context(), c.expression, calc.Options{Precision: 34, Scale: &c.scale})
		if err != nil || got != (calc.Result{Text: c.want, Rounded: c.rounded}) {
			t.Errorf("%s to %d: got %+v, %v", c.expression, c.scale, got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for expression, want := range map[string]string{
		"": "the expression is empty", "3 +": "the expression ends too early", ")": `unexpected ")" at character 1`, "(1": `a ")" is missing at the end`, "min([1": `a "]" is missing at the end`,
		"50%": "% is the remainder of a division at character 3; write x/100 for x percent", "(50%)*2": "% is the remainder of a division at character 4; write x/100 for x percent",
		"5!": "unexpected '!' at character 2; write factorial(n)", "2^3": "unexpected '^' at character 2; write ** for a power", "1,000": "a comma separates arguments",
		"2pi": "unexpected 'p' after 2 at character 2; write *", "2(3)": "write an operator between two values", "é": "no constant is called é", "1.2.3": "unexpected '.' after 1.2", "1__0": "unexpected '_' after 1",
		"007": "number with a leading zero at character 1", "0x": "0x is no number", "x = 5": "unexpected '=' at character 3", "π": "write pi", "[1]": "a list is an argument",
		"3,5*2": "a decimal with a point, such as 3.5", "3x4": "unexpected 'x' after 3 at character 2; write * to multiply", "3 x 4": "write * to multiply", "20% of 150": "x/100*a for x percent of a", "150+20%": "a*(1+x/100)",
		"5 km": "leave out units", "10k": "write 10e3 for thousands", "1e3k": "write * between", "sin(30°)": "write radians(x)", "sin(30 deg)": "write radians(x)", "7 mod 3": "write a % b", "mod(7,3)": "write a % b", "7 div 2": "write a // b",
		"avg(1,2)": "write mean", "nCr(5,2)": "write comb(n, k)", "3 1/2": "such as 3+1/2", "2+3)": `a value or a "(" is missing`, "5+*3": "a value is missing before it", "５": "write digits as 0 to 9", "1:2": "write / to divide", `\frac{1}{2}`: "not as LaTeX", "5²": "write **2",
		"range(3)": "run_python", "2+2?": "give only the expression",
		"sqrt": "sqrt is a function", "sqrt()": "sqrt takes one argument, not 0", "min()": "min takes at least one argument, not 0", "stdev(1)": "stdev takes at least 2 arguments, not 1", "pow(2,3,0)": "division by zero", "pow(2,3,0.5)": "0.5 is no integer", "pow(2,-1,4)": "2 has no inverse modulo 4", "log(1,2,3)": "log takes 1 or 2 arguments, not 3", "foo(1)": "no function is called foo", "os.system(1)": "no function is called os.system", "__import__(1)": "no function is called __import__",
		"1/0": "division by zero", "5%0": "division by zero", "5//0": "division by zero", "0**-1": "zero cannot be raised to a negative power", "(-8)**0.5": "a negative number has no real power 0.5",
		"sqrt(-1)": "sqrt: a negative number has no real square root", "ln(0)": "only positive numbers have a logarithm", "log(2,1)": "the base of a logarithm is not 1", "tan(pi/2)": "tan has no value", "asin(2)": "2 is not between -1 and 1", "acosh(0)": "0 is less than 1", "atanh(1)": "1 is not between -1 and 1",
		"factorial(2.5)": "2.5 is no integer", "factorial(-1)": "-1 is not between 0 and 3248", "factorial(3249)": "3249 is not between", "gcd(1.5,2)": "1.5 is no integer", "comb(-1,2)": "must not be negative", "round(1,10**9)": "digits are over 1000",
		"9**9**9": "more than 10000 digits", "10**10000": "more than 10000 digits", "exp(30000)": "more than 10000 digits", "exp(1e99)": "more than 10000 digits", "factorial(3248)*factorial(3248)": "more than 10000 digits", "comb(10**9,10**8)": "more than 10000 digits",
		"exp(-30000)": "nearer to zero", "1e-10000/10": "nearer to zero", "1e10001": "the exponent of 1e10001 is over 10000", "sin(1e101)": "the angle is over 1e100", "2.5**1e200": "the exponent is over 1e100",
		strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200): "nested more than 100 levels deep", strings.Repeat("-", 200) + "1": "nested more than 100 levels deep", strings.Repeat("2**", 200) + "1": "nested more than 100 levels deep",
	} {
		got, err := calc.Eval(t.Context(), expression, calc.Options{Precision: 34})
		e, ok := errors.AsType[*calc.Error](err)
		if !ok {
			t.Errorf("%.40s: got %v, %v", expression, got, err)
			continue
		}
		text := e.Msg
		if e.Hint != "" {
			text += "; " + e.Hint
		}
		if !strings.Contains(text, want) {
			t.Errorf("%.40s: got %q, want %q", expression, text, want)
		}
	}
}

// A name that is not known is told with what it was meant to be.
func TestUnknown(t *testing.T) {
	for expression, want := range map[string]calc.Error{
		"foo":     {Msg: "no constant is called foo", Name: "foo"},
		"sqr(2)":  {Msg: "no function is called sqr", Name: "sqr", Call: true},
		"math.PI": {Msg: "no constant is called PI", Name: "PI"},
	} {
		_, err := calc.Eval(t.Context(), expression, calc.Options{Precision: 34})
		if e, ok := errors.AsType[*calc.Error](err); !ok || *e != want {
			t.Errorf("%s: got %+v", expression, err)
		}
	}
}

// The most expensive expressions end, and one that was cancelled ends at once.
func TestBounds(t *testing.T) {
	long := "sin(" + strings.Repeat("exp(sin(", 40) + "1.5" + strings.Repeat("))", 40) + ")"
	for _, expression := range []string{
		long, strings.Repeat("factorial(3000)//7*", 300) + "0", "median([" + strings.Repeat("pi,ln(3),", 900) + "1])",
		strings.TrimSuffix(strings.Repeat("ln(1e9999)+", 900), "+"), "pow(3, 10**9999, 10**9999+7)",
		"median([" + strings.Repeat("pi*1e9999,pi,", 2000) + "1])", "max([" + strings.Repeat("pi*1e9999,pi,", 4000) + "1])",
	} {
		begin := time.Now()
		_, err := calc.Eval(t.Context(), expression, calc.Options{Precision: calc.MaxPrecision})
		if took := time.Since(begin); took > 5*calc.MaxTime {
			t.Errorf("%.30s: %s, %v", expression, took, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := calc.Eval(ctx, "1+2", calc.Options{Precision: 34}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, %v", got, err)
	}
}

func FuzzEval(f *testing.F) {
	for _, seed := range []string{"1+2*3", "sin(pi/4)**2", "max([1,2],3)", "-7//3%2", "0x1f", "1e5000*1e4999", "log(10**9000,3)", "round(2.5,-1)"} {
		f.Add(seed, 34)
	}
	f.Fuzz(func(t *testing.T, expression string, precision int) {
		if len(expression) > 200 || precision < 1 || precision > calc.MaxPrecision {
			return
		}
		got, err := calc.Eval(t.Context(), expression, calc.Options{Precision: precision})
		if err == nil && (got.Text == "" || len(got.Text) > calc.MaxDigits+calc.MaxPrecision) {
			t.Errorf("%q: %d characters", expression, len(got.Text))
		}
	})
}
