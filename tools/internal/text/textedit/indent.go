package textedit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// indents maps an edit's indentation to the file's.
type indents struct {
	to       map[string]string
	unit     string // one level in the file
	oldWidth int    // columns of one level in the edit
}

// matchIndents compares the indentation of lines pairwise. It fails if one indentation maps
// to two, or a deeper one to one that is not deeper.
func matchIndents(given, file []string) (map[string]string, bool) {
	to := map[string]string{}
	for i, g := range given {
		if isBlank(g) {
			continue
		}
		in, _, _ := split(g)
		inFile, _, _ := split(file[i])
		if before, seen := to[in]; seen && before != inFile {
			return nil, false
		}
		to[in] = inFile
	}
	keys := byWidth(to)
	for i := 1; i < len(keys); i++ {
		if width(keys[i]) <= width(keys[i-1]) || width(to[keys[i]]) <= width(to[keys[i-1]]) {
			return nil, false
		}
	}
	return to, true
}

func byWidth(to map[string]string) []string {
	return slices.SortedFunc(maps.Keys(to), func(a, b string) int { return cmp.Compare(width(a), width(b)) })
}

// width returns the columns of an indentation, tabs every eight.
func width(indent string) int {
	n := 0
	for _, r := range indent {
		if r == '\t' {
			n = n/8*8 + 8
		} else {
			n++
		}
	}
	return n
}

// newIndents finds the units of indentation of an edit and of the file.
func (d *draft) newIndents(to map[string]string, given ...[]string) indents {
	in := indents{to: to, unit: d.indentUnit()}
	for _, indent := range to {
		if strings.Contains(indent, "\t") {
			in.unit = "\t"
		}
	}
	widths := map[int]bool{}
	for _, lines := range given {
		for _, line := range lines {
			if !isBlank(line) {
				indent, _, _ := split(line)
				widths[width(indent)] = true
			}
		}
	}
	sorted := slices.Sorted(maps.Keys(widths))
	for i := 1; i < len(sorted); i++ {
		if step := sorted[i] - sorted[i-1]; in.oldWidth == 0 || step < in.oldWidth {
			in.oldWidth = step
		}
	}
	// A single step of more than four columns may be several levels: then one pair of lines
	// shows how wide a level is.
	for indent, inFile := range to {
		levels := width(inFile) / width(in.unit)
		if levels > 0 && width(indent)%levels == 0 {
			if one := width(indent) / levels; one >= 2 && (in.oldWidth == 0 || in.oldWidth > 4 && in.oldWidth%one == 0) {
				in.oldWidth = one
			}
		}
	}
	if in.oldWidth == 0 {
		in.oldWidth = 4
		if in.unit != "\t" {
			in.oldWidth = len(in.unit)
		}
	}
	return in
}

// sampled is how many lines are read to find a file's unit of indentation.
const sampled = 5000

// indentUnit returns the file's unit of indentation: a tab, or the spaces by which a line
// is deeper than the line before it.
func (d *draft) indentUnit() string {
	steps := map[int]int{}
	tabs, spaces, last := 0, 0, 0
	for _, l := range d.lines[:min(len(d.lines), sampled)] {
		indent, body, _ := split(l.text)
		switch {
		case body == "":
			continue
		case strings.HasPrefix(indent, "\t"):
			tabs++
		case indent != "":
			spaces++
			if step := len(indent) - last; step > 1 && step <= 8 {
				steps[step]++
			}
		}
		last = len(indent)
	}
	if tabs > spaces {
		return "\t"
	}
	best := 4
	for _, step := range slices.Sorted(maps.Keys(steps)) {
		if steps[step] > steps[best] {
			best = step
		}
	}
	return strings.Repeat(" ", best)
}

// of returns the file's indentation for one of the edit.
func (in indents) of(indent string) string {
	if inFile, ok := in.to[indent]; ok {
		return inFile
	}
	keys := byWidth(in.to)
	for _, key := range slices.Backward(keys) {
		if extra, ok := strings.CutPrefix(indent, key); ok {
			return in.to[key] + in.convert(extra)
		}
	}
	for _, key := range keys {
		if strings.HasPrefix(key, indent) {
			inFile := in.to[key]
			for range (width(key) - width(indent)) / in.oldWidth {
				inFile = strings.TrimSuffix(inFile, in.unit)
			}
			return inFile
		}
	}
	return in.convert(indent)
}

// convert writes an indentation in the file's unit.
func (in indents) convert(indent string) string {
	if strings.Trim(indent, "\t") == "" {
		return strings.Repeat(in.unit, len(indent))
	}
	n := width(indent)
	return strings.Repeat(in.unit, n/in.oldWidth) + strings.Repeat(" ", n%in.oldWidth)
}
