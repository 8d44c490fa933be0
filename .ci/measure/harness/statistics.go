package harness

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Median returns the value in the middle.
func Median[T int | float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// Milliseconds returns a duration in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// FirstOf is the first of many errors, and how many there are.
func FirstOf(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) < 2 {
		return errors.Join(errs...)
	}
	return fmt.Errorf("%d errors, the first: %w", len(errs), errs[0])
}

// Excerpt returns the first n bytes of a text, and how long it is if there are more.
func Excerpt(s string, n int) string {
	if len(s) > n {
		return s[:n] + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return s
}

// Brief is the beginning of a text, for a message.
func Brief(text string) string { return fmt.Sprintf("%.600s", text) }
