package shell

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools"
)

// duration reads an argument such as "90s"; "" is byDefault. A bare number is refused:
// some mean seconds by it, others milliseconds.
func duration(argument, text string, byDefault, most time.Duration) (time.Duration, error) {
	text = strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	if text == "" {
		return byDefault, nil
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && n != 0 && strings.Trim(text, "+-.0123456789") == "" {
		return 0, tools.Errorf(tools.InvalidArgument, "/%s: %s has no unit", argument, text).
			WithHint("write %q for seconds or %q for milliseconds", text+"s", text+"ms")
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?(h|m|s|ms|us|ns))+$`).MatchString(text):
		return 0, tools.Errorf(tools.InvalidArgument, "/%s: %s is out of range", argument, text).WithHint("from 0 to %s", most)
	case err != nil:
		return 0, tools.Errorf(tools.InvalidArgument, "/%s: %q is not a duration", argument, text).WithHint(`such as "90s", "5m" or "1h30m"`)
	case d < 0 || d > most:
		return 0, tools.Errorf(tools.InvalidArgument, "/%s: %s is out of range", argument, d).WithHint("from 0 to %s", most)
	}
	return d, nil
}
