// Package paging words what every result in pages says alike: what is left out,
// which paths could not be read, and that a page is past the end.
//
// It only makes text. It must not import tools or any category. Start at
// [PastEnd].
package paging

import (
	"fmt"
	"strings"

	"toolcrib/tools/internal/textfile"
)

// PastEnd says that nothing follows the offset: total words how many there are,
// last is the largest offset that returns something. It is a result, not an
// error: it tells the caller that it has seen everything.
func PastEnd(argument string, offset int64, total string, last int64) string {
	return fmt.Sprintf("%s=%d is past the end: %s; the last is %s=%d", argument, offset, total, argument, last)
}

// Left is a number of entries that are not shown, and why.
type Left struct {
	N   int
	Why string
}

// LeftOut is "; left out: 1 hidden, 2 ignored", without what is zero; "" if all is.
func LeftOut(left ...Left) string {
	var parts []string
	for _, l := range left {
		if l.N > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", l.N, l.Why))
		}
	}
	if parts == nil {
		return ""
	}
	return "; left out: " + strings.Join(parts, ", ")
}

// Unreadable is what went wrong with the paths that [Named] names.
const Unreadable = "could not be read"

// Denied is a line that counts the paths which the policy denies, "" if there are none.
func Denied(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("left out: %s that the policy denies\n", textfile.Count(n, "path"))
}

// MaxNamed is the most bytes of what [Named], beside what, and [Denied] return together.
const MaxNamed = mostNames + 200

const (
	mostNamed = 5
	mostNames = 1_000 // bytes
)

// Named is a line that counts some paths and names the first of them: "1 path
// could not be read: x"; "" if there are none.
func Named(what string, paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:", textfile.Count(len(paths), "path"), what)
	room := mostNames
	for i, path := range paths {
		name := textfile.Path(path)
		if room -= len(name); i == mostNamed || room < 0 {
			b.WriteString(" …")
			break
		}
		b.WriteByte(' ')
		b.WriteString(name)
	}
	b.WriteByte('\n')
	return b.String()
}
