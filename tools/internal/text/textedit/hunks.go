package textedit

import (
	"fmt"
	"slices"
)

// compose joins hunks from one text to a second with hunks from that to a third.
func compose(a, b []Hunk) []Hunk {
	if len(a) == 0 {
		return b
	}
	var out []Hunk
	shiftA, shiftB := 0, 0 // the distance of the second text's lines from those of the first and the third
	for len(a) > 0 || len(b) > 0 {
		start, end := 0, 0 // lines of the second text
		oldStart, newStart := shiftA, shiftB
		open := false
		for {
			takeA := len(a) > 0 && (!open || a[0].NewLine < end)
			takeB := len(b) > 0 && (!open || b[0].OldLine < end)
			if takeA && takeB && (b[0].OldLine < a[0].NewLine || b[0].OldLine == a[0].NewLine && b[0].OldLines < a[0].NewLines) {
				takeA = false
			}
			switch {
			case takeA:
				if !open {
					start, end = a[0].NewLine, a[0].NewLine
				}
				end = max(end, a[0].NewLine+a[0].NewLines)
				shiftA += a[0].OldLines - a[0].NewLines
				a = a[1:]
			case takeB:
				if !open {
					start, end = b[0].OldLine, b[0].OldLine
				}
				end = max(end, b[0].OldLine+b[0].OldLines)
				shiftB += b[0].NewLines - b[0].OldLines
				b = b[1:]
			default:
				out = append(out, Hunk{
					OldLine: start + oldStart, OldLines: end - start + shiftA - oldStart,
					NewLine: start + newStart, NewLines: end - start + shiftB - newStart,
				})
			}
			if !takeA && !takeB {
				break
			}
			open = true
		}
	}
	return slices.DeleteFunc(out, func(h Hunk) bool { return h.OldLines == 0 && h.NewLines == 0 })
}

// present returns where lines of the original text are now: n lines from first on, counted
// from 0; n = 0 is the gap before first. It fails if they were changed since, or text was
// inserted between them.
func (d *draft) present(first, n int) (int, error) {
	at := first
	for _, h := range d.hunks {
		start, end := h.OldLine-1, h.OldLine-1+h.OldLines
		switch {
		case end <= first:
			at += h.NewLines - h.OldLines
		case start >= first+n:
			return at, nil
		default:
			return 0, fmt.Errorf("line %d was changed by an edit before", max(start, first)+1)
		}
	}
	return at, nil
}
