"""Evaluates one expression a line, with Python's operators over exact fractions, and functions to
250 digits. Writes an integer in full, another value with 50 digits, "error", or "skip" for what is too large
to compare."""
import decimal
import math
import re
import sys
from decimal import Decimal
from fractions import Fraction

decimal.getcontext().prec = 250
decimal.getcontext().Emax = 10**6
decimal.getcontext().Emin = -(10**6)


floor_divide = Fraction.__floordiv__
Fraction.__floordiv__ = lambda a, b: Fraction(floor_divide(a, b))  # an integer divided by another would be a float


def dec(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


def arctan_inverse(n):
    total, power, k = Decimal(0), Decimal(1) / n, 1
    while power > Decimal(10) ** -255:
        total += power / k if k % 4 == 1 else -power / k
        power /= n * n
        k += 2
    return total


PI = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))


def sine(x):
    if abs(x) > 1000:
        raise OverflowError
    with decimal.localcontext() as c:
        c.prec = 280  # for the digits that tripling loses
        x = dec(x)
        thirds = 16
        x /= 3**thirds
        term, total, k = x, x, 1
        while term and abs(term) > Decimal(10) ** -300:
            term *= -x * x / ((k + 1) * (k + 2))
            total += term
            k += 2
        for _ in range(thirds):  # sin 3x = 3 sin x - 4 sin^3 x
            total = 3 * total - 4 * total**3
        return Fraction(total)


def cosine(x):
    half = Fraction(PI) / 2
    return sine(half - x)


def atan(x):
    x = dec(x)
    halvings = 0
    while abs(x) > Decimal("0.01"):
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    term, total, k = x, Decimal(0), 1
    while term and abs(term) > Decimal(10) ** -270:
        total += term / k if k % 4 == 1 else -term / k
        term *= x * x
        k += 2
    return Fraction(total * 2**halvings)


def positive(f):
    def g(x):
        if x <= 0:
            raise ZeroDivisionError
        return Fraction(getattr(dec(x), f)())
    return g


def exp(x):
    if abs(x) > 300:  # the remainder of a larger one needs more digits than these
        raise OverflowError
    return Fraction(dec(x).exp())


KNOWN = {
    "F": Fraction, "__builtins__": {}, "round": lambda x, n: Fraction(round(Fraction(x), int(n))), "abs": abs,
    "floor": lambda x: Fraction(math.floor(x)), "ceil": lambda x: Fraction(math.ceil(x)), "trunc": lambda x: Fraction(math.trunc(x)),
    "min": min, "max": max, "sum": lambda *a: sum(a), "mean": lambda *a: sum(a) / Fraction(len(a)),
    "factorial": lambda n: Fraction(math.factorial(int(n))), "comb": lambda n, k: Fraction(math.comb(int(n), int(k))),
    "sqrt": lambda x: Fraction(dec(x).sqrt()), "exp": exp, "ln": positive("ln"), "log10": positive("log10"),
    "sin": sine, "cos": cosine, "atan": atan,
}
NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-f]+|\d+(?:\.\d+)?(?:e-?\d+)?)")


def literal(m):
    text = m.group(1)
    return "F(%d)" % int(text, 16) if text.startswith("0x") else "F('%s')" % text


for line in sys.stdin:
    try:
        value = Fraction(eval(NUMBER.sub(literal, line.strip()), KNOWN))
        if value and not Fraction(1, 10**300) < abs(value) < 10**300:
            print("skip")
        elif value.denominator == 1:
            print(value.numerator)
        else:
            with decimal.localcontext() as c:
                c.prec = 50
                print(Decimal(value.numerator) / Decimal(value.denominator))
    except ZeroDivisionError:
        print("error")
    except OverflowError:
        print("skip")
