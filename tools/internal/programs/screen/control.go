package screen

import "bytes"

// carry carries out a control sequence; raw is the whole sequence. Functions of the
// terminal have their names in ECMA-48 and of DEC.
func (s *Screen) carry(final, mark byte, args []int, raw []byte) {
	switch mark {
	case 0:
		s.csi(final, args)
	case '?':
		s.private(final, args)
	case '>':
		if final == 'c' {
			s.reply("\x1b[>0;10;0c")
		}
	case '!':
		if final == 'p' { // DECSTR
			s.reset()
		}
	case '(':
		s.at.drawing = bytes.HasSuffix(raw, []byte{'0'})
	case esc:
		s.escape(final)
	}
}

// escape carries out a sequence without arguments.
func (s *Screen) escape(final byte) {
	switch final {
	case '7':
		s.saved = s.at
	case '8':
		s.restore()
	case 'D':
		s.feed()
	case 'E':
		s.at.column = 0
		s.feed()
	case 'M': // RI
		s.at.full = false
		if s.at.row == s.top {
			s.scroll(s.top, s.bottom, -1)
		} else {
			s.at.row = max(s.at.row-1, 0)
		}
	case 'c': // RIS
		s.reset()
	}
}

func (s *Screen) restore() {
	s.at = s.saved
	s.at.row, s.at.column = min(s.at.row, s.rows-1), min(s.at.column, s.columns-1)
}

// move goes to a position, limited to the screen.
func (s *Screen) move(row, column int) {
	s.at.row, s.at.column, s.at.full = min(max(row, 0), s.rows-1), min(max(column, 0), s.columns-1), false
}

func (s *Screen) csi(final byte, args []int) {
	n := max(arg(args, 0, 1), 1)
	line := s.lines[s.at.row]
	switch final {
	case 'A':
		s.move(s.at.row-n, s.at.column)
	case 'B', 'e':
		s.move(s.at.row+n, s.at.column)
	case 'C', 'a':
		s.move(s.at.row, s.at.column+n)
	case 'D':
		s.move(s.at.row, s.at.column-n)
	case 'E':
		s.move(s.at.row+n, 0)
	case 'F':
		s.move(s.at.row-n, 0)
	case 'G', '`':
		s.move(s.at.row, n-1)
	case 'H', 'f':
		s.move(n-1, max(arg(args, 1, 1), 1)-1)
	case 'd':
		s.move(n-1, s.at.column)
	case 'I':
		for range min(n, s.columns) {
			s.plain('\t')
		}
	case 'Z':
		s.move(s.at.row, max((s.at.column-1)/8-n+1, 0)*8)
	case 'J':
		s.eraseScreen(arg(args, 0, 0))
	case 'K':
		s.eraseLine(arg(args, 0, 0))
	case 'L':
		s.shift(-n)
	case 'M':
		s.shift(n)
	case 'P': // DCH
		n = min(n, s.columns-s.at.column)
		copy(line[s.at.column:], line[s.at.column+n:])
		clear(line[s.columns-n:])
	case '@': // ICH
		n = min(n, s.columns-s.at.column)
		copy(line[s.at.column+n:], line[s.at.column:])
		clear(line[s.at.column : s.at.column+n])
	case 'X': // ECH
		clear(line[s.at.column:min(s.at.column+n, s.columns)])
	case 'S':
		s.scroll(s.top, s.bottom, n)
	case 'T':
		s.scroll(s.top, s.bottom, -n)
	case 'b': // REP
		for range min(n, s.rows*s.columns) {
			if s.last != 0 {
				s.put(s.last)
			}
		}
	case 'r':
		s.region(n-1, min(arg(args, 1, s.rows), s.rows)-1)
	case 's':
		s.saved = s.at
	case 'u':
		s.restore()
	case 'h', 'l':
		if arg(args, 0, 0) == 4 {
			s.insert = final == 'h'
		}
	case 'c':
		s.reply("\x1b[?62;c")
	case 'n':
		s.report(arg(args, 0, 0))
	}
}

// region sets the lines that scroll.
func (s *Screen) region(top, bottom int) {
	if top >= bottom || bottom < 1 {
		top, bottom = 0, s.rows-1
	}
	s.top, s.bottom = top, bottom
	s.move(0, 0)
}

// shift moves the lines from the cursor on up, or down if n is negative.
func (s *Screen) shift(n int) {
	if s.at.row >= s.top && s.at.row <= s.bottom {
		s.scroll(s.at.row, s.bottom, n)
		s.at.column, s.at.full = 0, false
	}
}

func (s *Screen) report(what int) {
	switch what {
	case 5:
		s.reply("\x1b[0n")
	case 6:
		s.reply("\x1b[%d;%dR", s.at.row+1, s.at.column+1)
	}
}

func (s *Screen) eraseLine(mode int) {
	line := s.lines[s.at.row]
	switch mode {
	case 0:
		clear(line[s.at.column:])
	case 1:
		clear(line[:s.at.column+1])
	case 2:
		clear(line)
	}
}

func (s *Screen) eraseScreen(mode int) {
	from, to := 0, s.rows
	switch mode {
	case 0:
		s.eraseLine(0)
		from = s.at.row + 1
	case 1:
		s.eraseLine(1)
		to = s.at.row
	case 2:
	default: // lines that were scrolled away are not kept
		return
	}
	for _, line := range s.lines[from:to] {
		clear(line)
	}
}

// private sets the modes that DEC and xterm add to the standard.
func (s *Screen) private(final byte, args []int) {
	if final != 'h' && final != 'l' {
		return
	}
	on := final == 'h'
	for _, a := range args {
		switch a {
		case 1:
			s.keypad = on
		case 7:
			s.wraps = on
		case 2004:
			s.bracketed = on
		case 47, 1047:
			s.show(on)
		case 1048:
			if on {
				s.saved = s.at
			} else {
				s.restore()
			}
		case 1049:
			if on {
				s.saved = s.at
			}
			s.show(on)
			if !on {
				s.restore()
			}
		}
	}
}

// show shows the second screen, empty, or the first one again.
func (s *Screen) show(second bool) {
	if second == s.alternate {
		return
	}
	s.alternate = second
	s.lines, s.other = s.other, s.lines
	if second {
		for _, line := range s.lines {
			clear(line)
		}
	}
}

// drawn returns the line or symbol that DEC's special graphics have for a letter.
func drawn(r rune) rune {
	const first, signs = '`', "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"
	if r < first || r > '~' {
		return r
	}
	return []rune(signs)[r-first]
}
