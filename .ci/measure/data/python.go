package data

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"

	"toolcrib/.ci/measure/harness"
)

//go:embed reference.py
var reference string

// python compares random expressions with what Python's fractions and decimals make of them.
func python(ctx context.Context, env harness.Environment, server *harness.ToolUser, dir string) (*comparison, error) {
	r := rand.New(rand.NewPCG(harness.NewSeed(), 1))
	expressions := make([]string, env.Of(100_000, 1000))
	for i := range expressions {
		expressions[i] = random(r, 3, false)
	}
	cmd := exec.CommandContext(ctx, "python3", "-c", reference)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(strings.Join(expressions, "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("python3: %w: %s", err, stderr.String())
	}
	values := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(values) != len(expressions) {
		return nil, fmt.Errorf("python3: %d values of %d expressions", len(values), len(expressions))
	}
	c := &comparison{against: "Python"}
	for i, expression := range expressions {
		if values[i] == "skip" {
			c.skipped++
			continue
		}
		answer, err := server.Use("calculator", map[string]any{"expression": expression})
		if err != nil {
			return nil, err
		}
		c.compared++
		if !same(answer, values[i]) {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: got %s, want %s", expression, answer.Text, values[i]))
		}
	}
	return c, nil
}

// same reports whether an answer is the value, to 33 digits if it says that it is rounded, or the
// error that Python has too.
func same(answer harness.Answer, value string) bool {
	if value == "error" || answer.Failed {
		return answer.Failed && value == "error"
	}
	text, _, isRounded := strings.Cut(answer.Text, "\n")
	got, ok := new(big.Rat).SetString(text)
	want, ok2 := new(big.Rat).SetString(value)
	if !ok || !ok2 {
		return false
	}
	difference := new(big.Rat).Sub(got, want)
	digits := "1e-45" // of what Python writes with 50
	if isRounded {
		digits = "1e-33"
	}
	tolerance, ok := new(big.Rat).SetString(digits)
	return ok && difference.Abs(difference).Cmp(tolerance.Mul(tolerance, new(big.Rat).Abs(want))) <= 0
}

// random makes an expression. In an exact one no function has a value that must be rounded,
// since what is rounded down must not depend on the last digit.
func random(r *rand.Rand, depth int, exact bool) string {
	inner := func() string { return random(r, depth-1, exact) }
	exactly := func() string { return random(r, depth-1, true) }
	if depth == 0 || r.IntN(8) == 0 {
		return literal(r)
	}
	switch n := r.IntN(22); {
	case n < 4:
		return "(" + inner() + " + " + inner() + ")"
	case n < 7:
		return "(" + inner() + " - " + inner() + ")"
	case n < 10:
		return inner() + " * " + inner()
	case n < 12:
		return "(" + inner() + ") / (" + inner() + ")"
	case n < 13:
		return "(" + exactly() + ") // (" + exactly() + ")"
	case n < 14:
		return "(" + exactly() + ") % (" + exactly() + ")"
	case n < 15:
		return "(" + inner() + ") ** " + strconv.Itoa(r.IntN(11)-5)
	case n < 16:
		return "-" + inner()
	case n < 17:
		return "round(" + exactly() + ", " + strconv.Itoa(r.IntN(6)-1) + ")"
	case n < 18:
		return pick(r, "floor", "ceil", "trunc", "abs") + "(" + exactly() + ")"
	case n < 19:
		return pick(r, "min", "max", "sum", "mean") + "(" + strings.Join([]string{exactly(), exactly(), exactly()}, ", ") + ")"
	case n < 20:
		return "(factorial(" + strconv.Itoa(r.IntN(25)) + ") // comb(" + strconv.Itoa(10+r.IntN(10)) + ", " + strconv.Itoa(r.IntN(10)) + "))"
	case exact:
		return literal(r)
	}
	return pick(r, "sqrt", "exp", "ln", "log10", "sin", "cos", "atan") + "(" + literal(r) + ")"
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

func literal(r *rand.Rand) string {
	switch r.IntN(6) {
	case 0:
		return strconv.Itoa(r.IntN(10))
	case 1:
		return strconv.Itoa(r.IntN(1_000_000_000)) + strconv.Itoa(r.IntN(1_000_000_000))
	case 2:
		return fmt.Sprintf("%d.%de%d", r.IntN(10), r.IntN(1000), r.IntN(20)-10)
	case 3:
		return fmt.Sprintf("0x%x", r.IntN(1000))
	}
	return fmt.Sprintf("%d.%02d", r.IntN(100), r.IntN(100))
}
