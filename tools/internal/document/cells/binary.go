package cells

import "math"

// RK returns the number that 4 bytes stand for.
func RK(v uint32) float64 {
	n := math.Float64frombits(uint64(v&^3) << 32)
	if v&2 != 0 {
		n = float64(int32(v) >> 2)
	}
	if v&1 != 0 {
		n /= 100
	}
	return n
}

// problems are the errors that cells show.
var problems = map[byte]string{
	0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?", 0x24: "#NUM!", 0x2A: "#N/A",
}

// Truth is what a cell with a truth value or an error shows.
func Truth(value byte, isError bool) string {
	switch {
	case isError:
		return problems[value]
	case value != 0:
		return "TRUE"
	}
	return "FALSE"
}
