package textfile

import (
	"fmt"
	"strings"
)

// Count writes a number with its noun: "1 line", "2000 lines", "2 entries",
// "3 matches". Numbers have no separators between thousands, as most of them
// can be given back as an argument.
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
