package textfile

import (
	"fmt"
	"strconv"
	"strings"
)

// Count writes a number with its noun: "1 line", "2000 lines", "2 entries", "3 matches".
// Numbers have no thousands separators, since most of them can be used as arguments.
func Count[N int | int64](n N, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Size writes a number of bytes short, with a unit of 1,000: "0 B", "999 B",
// "1.2 kB", "123 kB", "10 GB".
func Size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), 0
	for ; value >= 999.5 && unit < len("kMGTPE"); unit++ {
		value /= 1000
	}
	digits := 0
	if value < 9.95 {
		digits = 1
	}
	return strconv.FormatFloat(value, 'f', digits, 64) + " " + "kMGTPE"[unit-1:unit] + "B"
}
