// Package paging formats the lines that all results in pages have in common: entries that are
// left out, paths that could not be read, and a page past the end.
//
// It only makes text. It must not import tools or any category. Start at [PastEnd].
package paging

import (
	"fmt"
	"strings"

	"toolcrib/tools/internal/text/textfile"
)

// PastEnd says that nothing follows the offset. total describes how many entries there are;
// last is the largest offset that returns something. It is a result and no error: the caller
// has seen everything.
func PastEnd(argument string, offset int64, total string, last int64) string {
	return fmt.Sprintf("%s=%d is past the end: %s; the last is %s=%d", argument, offset, total, argument, last)
}

// Left is a number of entries that are not shown, and why.
type Left struct {
	N   int
	Why string
}

// LeftOut is "; left out: 1 hidden, 2 ignored", without zeros; "" if all are zero.
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

// Unreadable describes the paths of [NotRead], see [Named].
const Unreadable = "could not be read"

// Denied returns a line that counts denied paths, "" = there are none.
func Denied(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("left out: %s that the policy denies\n", textfile.Count(n, "path"))
}

// MaxNamed is the most bytes that [Named], without its description, and [Denied] return
// together.
const MaxNamed = mostNames + 200

const (
	mostNamed   = 5
	mostNames   = 1_000 // bytes
	longName    = 200   // bytes; of a longer one the middle is left out
	mostReasons = 3
)

// Unread is a path that could not be read.
type Unread struct {
	Path string
	Why  string // in a few words; "" = not known
}

// NotRead is a line for each reason why paths could not be read, "" if there are no paths:
// "2 paths could not be read (permission denied): x y". Rare reasons beyond the first few
// are left out.
func NotRead(paths []Unread) string {
	var reasons []string
	by := map[string][]string{}
	for _, p := range paths {
		why := p.Why
		if _, known := by[why]; !known && len(reasons) >= mostReasons {
			why = ""
		}
		if by[why] == nil {
			reasons = append(reasons, why)
		}
		by[why] = append(by[why], p.Path)
	}
	var lines strings.Builder
	for _, why := range reasons {
		what := Unreadable
		if why != "" {
			what += " (" + why + ")"
		}
		lines.WriteString(named(what, by[why], mostNames/len(reasons)))
	}
	return lines.String()
}

// Named is a line that counts paths and names the first of them: "1 path could not be read:
// x"; "" if there are none.
func Named(what string, paths []string) string { return named(what, paths, mostNames) }

// named is Named with at most room bytes of names; the first is always there.
func named(what string, paths []string, room int) string {
	if len(paths) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:", textfile.Count(len(paths), "path"), what)
	for i, path := range paths {
		name := short(textfile.Path(path))
		if room -= len(name); i == mostNamed || i > 0 && room < 0 {
			b.WriteString(" …")
			break
		}
		b.WriteByte(' ')
		b.WriteString(name)
	}
	b.WriteByte('\n')
	return b.String()
}

// short leaves out the middle of a long name.
func short(name string) string {
	if len(name) <= longName {
		return name
	}
	const head, tail = longName / 2, longName / 4
	return fmt.Sprintf("%s…[+%d bytes]…%s", strings.ToValidUTF8(name[:head], ""), len(name)-head-tail, strings.ToValidUTF8(name[len(name)-tail:], ""))
}
