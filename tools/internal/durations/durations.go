// Package durations parses arguments that are durations, and formats durations.
//
// Start at [Argument]. The package imports tools for its errors, and nothing else of
// toolcrib.
package durations

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools"
)

// Argument defines the values of an argument such as "90s".
type Argument struct {
	Name    string
	Default time.Duration // the value of ""; below Least = "" is an error
	Least   time.Duration
	Most    time.Duration
}

// Read parses it. A bare number is refused: the tag unit has given it a unit before. Errors
// have the code InvalidArgument, and name the argument.
func (a Argument) Read(text string) (time.Duration, error) {
	text = strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	if text == "" && a.Default >= a.Least {
		return a.Default, nil
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && n != 0 && strings.Trim(text, "+-.0123456789") == "" {
		return 0, a.errorf("%s has no unit", text).WithHint("write %q for seconds or %q for milliseconds", text+"s", text+"ms")
	}
	d, err := Parse(text)
	switch {
	case err != nil && regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?(h|m|s|ms|us|ns))+$`).MatchString(text):
		return 0, a.outside(text)
	case err != nil:
		return 0, a.errorf("%q is not a duration", text).WithHint(`such as "90s", "5m" or "1h30m"`)
	case d < a.Least || d > a.Most:
		return 0, a.outside(Exact(d))
	}
	return d, nil
}

// Parse reads a duration as [time.ParseDuration] does, and also whole days and weeks: "7d",
// "2w".
func Parse(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	for unit, length := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.Atoi(number); err == nil && n > -most/int(length) && n < most/int(length) {
				return time.Duration(n) * length, nil
			}
		}
	}
	return time.ParseDuration(text)
}

// most bounds a duration.
const most = math.MaxInt64

func (a Argument) outside(text string) error {
	least := "0"
	if a.Least != 0 {
		least = Exact(a.Least)
	}
	return a.errorf("%s is out of range", text).WithHint("from %s to %s", least, Exact(a.Most))
}

func (a Argument) errorf(format string, args ...any) *tools.Error {
	return tools.Errorf(tools.InvalidArgument, "/"+a.Name+": "+format, args...)
}

// Exact formats a duration as arguments do: "500ms", "5m", "1h30m".
func Exact(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Rough formats a measured duration: "3 ms", "1.2 s", "75 s", "12m5s".
func Rough(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(math.Round(d.Seconds())))
	}
	return Exact(d.Round(time.Second))
}
