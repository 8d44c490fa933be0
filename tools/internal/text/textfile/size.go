package textfile

import (
	"fmt"
	"strconv"
)

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
