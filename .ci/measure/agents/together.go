// Package agents has the figures of calls that tools and scripts make: how much faster they are
// together, and how many tokens they save.
//
// Start at [Together]. It imports the harness and no other figures.
package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

const (
	many          = 16
	waitsAtMost   = 250 * time.Millisecond
	nothingAtMost = time.Millisecond
)

// Together makes 16 calls by one: of programs that take 100 ms, and of calculations that take
// nothing, against a single direct call.
func Together(ctx context.Context, env harness.Environment) error {
	u, _, remove, err := env.UseScratch(ctx, "together")
	defer remove()
	if err != nil {
		return err
	}
	err = together(u, env)
	return errors.Join(err, u.Close())
}

func together(u *harness.ToolUser, env harness.Environment) error {
	rounds := env.Of(200, 5)
	batch := func(tool string, args func(i int) map[string]any) map[string]any {
		calls := make([]map[string]any, many)
		for i := range calls {
			calls[i] = map[string]any{"tool": tool, "arguments": args(i)}
		}
		return map[string]any{"calls": calls}
	}
	sleep := batch("bash", func(i int) map[string]any { return map[string]any{"command": fmt.Sprintf("sleep 0.1; echo %d", i)} })
	sum := batch("calculator", func(i int) map[string]any { return map[string]any{"expression": fmt.Sprintf("%d+1", i)} })
	took := func(rounds int, tool string, args map[string]any, want string) (time.Duration, error) {
		var all []time.Duration
		for i := range rounds + 1 {
			text, err := u.Must(tool, args)
			if err != nil {
				return 0, err
			}
			if !strings.HasPrefix(text, want) {
				return 0, fmt.Errorf("%s: %s", tool, text)
			}
			if i > 0 { // the first makes what the others use
				all = append(all, time.Duration(u.Took.Load()))
			}
		}
		return harness.Median(all), nil
	}
	waits, err1 := took(max(rounds/10, 2), "parallel_calls", sleep, "16 of 16 calls ok")
	one, err2 := took(rounds, "calculator", map[string]any{"expression": "1+1"}, "2")
	nothing, err3 := took(rounds, "parallel_calls", sum, "16 of 16 calls ok")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	fmt.Println("| calls | median |\n|---|---|")
	fmt.Printf("| 16 programs of 100 ms by parallel_calls | %d ms |\n", waits.Milliseconds())
	fmt.Printf("| a calculation by itself | %.2f ms |\n| 16 by parallel_calls | %.2f ms |\n", harness.Milliseconds(one), harness.Milliseconds(nothing))
	switch {
	case !env.Full():
	case waits > waitsAtMost:
		return fmt.Errorf("16 programs take %v, want at most %v", waits, waitsAtMost)
	case nothing-one > nothingAtMost:
		return fmt.Errorf("16 calculations take %v more than one, want at most %v", nothing-one, nothingAtMost)
	}
	return nil
}
