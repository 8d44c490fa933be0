package main

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

func median[T int | float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// firstOf is the first of many errors, and how many there are.
func firstOf(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) < 2 {
		return errors.Join(errs...)
	}
	return fmt.Errorf("%d errors, the first: %w", len(errs), errs[0])
}

func excerpt(s string, n int) string {
	if len(s) > n {
		return s[:n] + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return s
}

// brief is the beginning of a text, for a message.
func brief(text string) string { return fmt.Sprintf("%.600s", text) }
