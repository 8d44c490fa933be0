package data

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// forms are the operations of decTest that the calculator has, as it writes them.
var forms = map[string]string{
	"add": "(%s) + (%s)", "subtract": "(%s) - (%s)", "multiply": "(%s) * (%s)", "divide": "(%s) / (%s)", "power": "(%s) ** (%s)",
	"squareroot": "sqrt(%s)", "exp": "exp(%s)", "ln": "ln(%s)", "log10": "log10(%s)", "abs": "abs(%s)", "minus": "-(%s)", "plus": "+(%s)",
	"max": "max(%s, %s)", "min": "min(%s, %s)",
}

var (
	finite = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,4})?$`)
	beyond = regexp.MustCompile(`(?i)overflow|underflow|subnormal|clamped|invalid|division|insufficient`)
)

// decTests takes the cases that are about values: finite operands and results within the
// exponents of the test, rounded half to even where they are rounded. Those about special
// values, other roundings and the form of zeros have no counterpart.
func decTests(ctx context.Context, env harness.Environment, server *harness.ToolUser) (*comparison, error) {
	dirs, err := harness.Modules(ctx, "github.com/cockroachdb/apd/v3@v3.2.3")
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dirs[0], "testdata", "*.decTest"))
	if err != nil || len(files) < 20 {
		return nil, fmt.Errorf("%d files of decTest in %s: %w", len(files), dirs[0], err)
	}
	c := &comparison{against: "decTest"}
	every := env.Of(100, 1) // of a hundred cases
	n := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		precision, rounding := 9, "half_up"
		for line := range strings.Lines(string(data)) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "--")
			if key, value, directive := strings.Cut(line, ":"); directive {
				switch strings.ToLower(strings.TrimSpace(key)) {
				case "precision":
					if precision, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
						return nil, fmt.Errorf("%s: %s", file, line)
					}
				case "rounding":
					rounding = strings.TrimSpace(value)
				}
				continue
			}
			left, right, ok := strings.Cut(line, "->")
			words, wanted := strings.Fields(strings.ReplaceAll(left, "'", "")), strings.Fields(strings.ReplaceAll(right, "'", ""))
			if !ok || len(words) < 3 || len(wanted) == 0 {
				continue
			}
			if n++; n%100 >= every {
				continue
			}
			form, known := forms[strings.ToLower(words[1])]
			operands := words[2:]
			conditions := strings.Join(wanted[1:], " ")
			usable := known && strings.Count(form, "%s") == len(operands) && precision <= 200 && finite.MatchString(wanted[0]) && !beyond.MatchString(conditions) &&
				(rounding == "half_even" || !strings.Contains(conditions, "Inexact"))
			for _, o := range operands {
				usable = usable && finite.MatchString(o)
			}
			if !usable {
				c.skipped++
				continue
			}
			if err := c.decTest(server, words[0], fmt.Sprintf(form, anys(operands)...), precision, wanted[0]); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

func anys(words []string) []any {
	list := make([]any, len(words))
	for i, w := range words {
		// Python and the calculator have no numbers with leading zeros.
		sign := strings.TrimRight(w[:1], "0123456789.")
		digits := strings.TrimLeft(w[len(sign):], "0")
		if digits == "" || digits[0] == '.' || digits[0]|0x20 == 'e' {
			digits = "0" + digits
		}
		list[i] = sign + digits
	}
	return list
}

func (c *comparison) decTest(server *harness.ToolUser, id, expression string, precision int, wanted string) error {
	answer, err := server.Use("calculator", map[string]any{"expression": expression, "precision": precision})
	if err != nil {
		return err
	}
	c.compared++
	text, _, _ := strings.Cut(answer.Text, "\n")
	got, ok := new(big.Rat).SetString(text)
	want, ok2 := new(big.Rat).SetString(wanted)
	if answer.Failed || !ok || !ok2 || rounded(got, precision).Cmp(want) != 0 {
		c.wrong = append(c.wrong, fmt.Sprintf("%s: %s to %d digits: got %s, want %s", id, expression, precision, answer.Text, wanted))
	}
	return nil
}

// rounded rounds an integer, which the calculator writes in full, as the test does.
func rounded(r *big.Rat, precision int) *big.Rat {
	if !r.IsInt() {
		return r
	}
	digits := len(new(big.Int).Abs(r.Num()).String())
	if digits <= precision {
		return r
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits-precision)), nil)
	q, rest := new(big.Int).QuoRem(new(big.Int).Abs(r.Num()), unit, new(big.Int))
	if twice := rest.Lsh(rest, 1).Cmp(unit); twice > 0 || twice == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	q.Mul(q, unit)
	if r.Sign() < 0 {
		q.Neg(q)
	}
	return new(big.Rat).SetInt(q)
}
