package screen

// The bytes that begin and end control sequences in ECMA-48.
const (
	esc = 0x1b
	bel = 0x07
	can = 0x18 // cancels a sequence
	sub = 0x1a // likewise
)

// Limits of control sequences: longer ones are ordinary text.
const (
	longest  = 4096
	mostArgs = 32
	largest  = 1 << 16
)

// sequence reads the control sequence at the start of raw, an ESC. n is its length, at
// least 1, also if it is incomplete. final and args are those of a CSI sequence without a
// private mark; final is 0 for every other sequence.
func sequence(raw []byte) (n int, final byte, args []int) {
	n, final, mark, args := parse(raw)
	if mark != 0 {
		final = 0
	}
	switch {
	case n > 0:
	case len(raw) > 1 && raw[1] != '[':
		n = 2 // the rest may be any text: it is shown
	default:
		n = len(raw)
	}
	return n, final, args
}

// parse reads a control sequence; n is 0 if it is incomplete. mark is the private mark of a
// CSI sequence, such as '?', or its intermediate byte, or ESC for a sequence without
// arguments. final is the final byte, 'X' for a skipped string.
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

// absent returns the value of an argument, -1 if it is missing.
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

// incomplete returns how many bytes of an unfinished sequence to skip: 0 to wait for more,
// 2 if it is longer than allowed.
func incomplete(raw []byte, most int) int {
	if len(raw) >= most {
		return 2
	}
	return 0
}

// arg returns an argument, byDefault if it is missing.
func arg(args []int, i, byDefault int) int {
	if i >= len(args) || args[i] < 0 {
		return byDefault
	}
	return args[i]
}

// Drawn returns the index of the first control sequence with which a program draws on a whole
// screen; -1 = it does not. Such a program switches to the second screen, or prints in several
// rows by their numbers; one that only clears the screen, or rewrites its last lines as
// progress bars do, does not count.
func Drawn(raw []byte) int {
	first, rows := -1, map[int]bool{}
	for i := 0; i < len(raw); i++ {
		if raw[i] != esc {
			continue
		}
		n, final, mark, args := parse(raw[i:])
		switch {
		case n == 0:
			return -1
		case final == 'h' && mark == '?' && len(args) > 0 && (args[0] == 1049 || args[0] == 1047 || args[0] == 47):
			return i
		case (final == 'H' || final == 'f') && mark == 0 && len(args) > 0:
			if first < 0 {
				first = i
			}
			if rows[args[0]] = true; len(rows) == 3 {
				return first
			}
		}
		i += n - 1
	}
	return -1
}
