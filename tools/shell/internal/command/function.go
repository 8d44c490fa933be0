package command

import (
	"maps"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools"
)

// function is one that the line defines.
type function struct {
	body *syntax.Stmt
	src  string // the text that it is a part of
}

// functionLoses notes what a function deletes and replaces. The commands that it runs are noted
// where it is defined.
func (w *walker) functionLoses(f function, args []tools.Word) {
	w.parsed += int(f.body.End().Offset() - f.body.Pos().Offset())
	if w.nested >= maxNested || w.parsed > maxText {
		return
	}
	sub := w.aside()
	sub.nested++
	sub.known, sub.src, sub.functions, sub.values = true, f.src, w.functions, maps.Clone(w.values)
	sub.positional(args)
	sub.stmt(f.body)
	w.parsed = sub.parsed
	for _, l := range sub.line.Losses {
		if len(w.line.Losses) < maxLosses && !slices.Contains(w.line.Losses, l) {
			w.line.Losses = append(w.line.Losses, l)
		}
	}
}

// positional notes the arguments of a function as the values of its parameters, as far as they are
// known.
func (w *walker) positional(args []tools.Word) {
	var all []tools.Word
	for _, a := range args {
		all = append(all, w.meant(a)...)
	}
	for i := range 9 {
		delete(w.values, strconv.Itoa(i+1))
	}
	w.holds("@", all...)
	for i, v := range all {
		if v.Kind != tools.Known || i == 9 {
			return
		}
		w.holds(strconv.Itoa(i+1), v)
	}
}
