package textfile

import (
	"fmt"
	"strconv"
)

// Number writes n with commas between thousands: 1,234,567.
func Number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
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
