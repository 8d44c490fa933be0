package screen

// The bytes that begin and end control sequences, as ECMA-48 has them.
const (
	esc = 0x1b
	bel = 0x07
	can = 0x18 // cancels a sequence
	sub = 0x1a // likewise
)

// Of control sequences: what is longer is not one.
const (
	longest  = 4096
	mostArgs = 32
	largest  = 1 << 16
)

// sequence reads the control sequence that raw begins with, an ESC. n is its length, 1
// at least, also where it is not complete. final and args are those of a CSI
// sequence without a private mark, final 0 for every other.
func sequence(raw []byte) (n int, final byte, args []int) {
	n, final, mark, args := parse(raw)
	if mark != 0 {
		final = 0
	}
	switch {
	case n > 0:
	case len(raw) > 1 && raw[1] != '[':
		n = 2 // the rest may be anything: it is shown
	default:
		n = len(raw)
	}
	return n, final, args
}

// parse reads a control sequence; n is 0 where it is not complete. mark is the private
// mark of a CSI sequence, such as '?', or its intermediate byte, or ESC for a sequence
// without arguments, whose final byte is final, or 'X' for a string that is skipped.
func parse(raw []byte) (n int, final, mark byte, args []int) {
	if len(raw) < 2 {
		return 0, 0, 0, nil
	}
	switch b := raw[1]; {
	case b == '[':
		return csi(raw)
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		return text(raw)
	case b >= ' ' && b <= '/': // a charset, or another that has one byte more
		for i := 2; i < len(raw) && i < 8; i++ {
			if raw[i] < ' ' || raw[i] > '/' {
				return i + 1, 0, b, nil
			}
		}
		return incomplete(raw, 8), 0, b, nil
	case b >= '0' && b <= '~':
		return 2, b, esc, nil
	}
	return 1, 0, 'X', nil
}

func csi(raw []byte) (n int, final, mark byte, args []int) {
	i := 2
	if i < len(raw) && raw[i] >= '<' && raw[i] <= '?' {
		mark = raw[i]
		i++
	}
	value, seen := 0, false
	for ; i < len(raw) && i < longest; i++ {
		switch b := raw[i]; {
		case b >= '0' && b <= '9':
			value, seen = min(value*10+int(b-'0'), largest), true
		case b == ';' || b == ':':
			if len(args) < mostArgs {
				args = append(args, absent(value, seen))
			}
			value, seen = 0, false
		case b >= ' ' && b <= '/':
			mark = b
		case b >= '@' && b <= '~':
			if (seen || len(args) > 0) && len(args) < mostArgs {
				args = append(args, absent(value, seen))
			}
			return i + 1, b, mark, args
		default: // it is broken off
			return i, 0, 'X', nil
		}
	}
	return incomplete(raw, longest), 0, 'X', nil
}

// absent is the value of an argument that is left out.
func absent(value int, seen bool) int {
	if !seen {
		return -1
	}
	return value
}

// text skips a string, such as the title of the window, to its end.
func text(raw []byte) (n int, final, mark byte, args []int) {
	for i := 2; i < len(raw) && i < longest; i++ {
		switch raw[i] {
		case bel:
			return i + 1, 0, 'X', nil
		case can, sub:
			return i + 1, 0, 'X', nil
		case '\n': // it is broken off
			return i, 0, 'X', nil
		case esc:
			if i+1 == len(raw) {
				return 0, 0, 0, nil
			}
			if raw[i+1] == '\\' {
				return i + 2, 0, 'X', nil
			}
			return i, 0, 'X', nil
		}
	}
	return incomplete(raw, longest), 0, 'X', nil
}

// incomplete is the length of a sequence that has not ended: more may come, unless it is
// longer than any.
func incomplete(raw []byte, most int) int {
	if len(raw) >= most {
		return 2
	}
	return 0
}

// arg returns an argument; by default where it is left out.
func arg(args []int, i, byDefault int) int {
	if i >= len(args) || args[i] < 0 {
		return byDefault
	}
	return args[i]
}
