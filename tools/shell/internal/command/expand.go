package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools"
)

// parts walks the substitutions in the parts of a word.
func (w *walker) parts(list []syntax.WordPart) {
	if !w.enter() {
		return
	}
	defer w.leave()
	for _, part := range list {
		switch part := part.(type) {
		case *syntax.Lit:
			w.mayBeCode(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			w.quotedText(part)
		case *syntax.DblQuoted:
			w.parts(part.Parts)
		case *syntax.CmdSubst:
			w.inside(part.Stmts)
		case *syntax.ProcSubst:
			w.inside(part.Stmts)
		case *syntax.ArithmExp:
			w.arithm(part.X)
		case *syntax.ParamExp:
			w.param(part)
		case *syntax.ExtGlob: // in most shells this is no pattern: !(x) runs x
			w.unknown("it has a pattern such as !(x), which shells read in different ways")
			w.text(part.Pattern.Value)
		case *syntax.BraceExp:
			for _, elem := range part.Elems {
				w.parts(elem.Parts)
			}
		}
	}
}

func (w *walker) param(p *syntax.ParamExp) {
	if p.Excl {
		w.evaluates = true
	}
	if p.NestedParam != nil {
		w.parts([]syntax.WordPart{p.NestedParam})
	}
	w.arithm(p.Index)
	if p.Slice != nil {
		w.arithm(p.Slice.Offset)
		w.arithm(p.Slice.Length)
	}
	if p.Repl != nil {
		w.word(p.Repl.Orig)
		w.word(p.Repl.With)
	}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.OtherParamOps: // ${x@P}
			w.evaluates = true
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if p.Param != nil {
				w.sets(p.Param.Value, tools.Word{Kind: tools.Many}, "")
			}
		}
		w.word(p.Exp.Word)
	}
}

func (w *walker) word(word *syntax.Word) {
	if word != nil {
		w.parts(word.Parts)
	}
}

// arithm walks an arithmetic expression. The shell evaluates the value of a variable in it
// again, with the code in its subscripts.
func (w *walker) arithm(x syntax.ArithmExpr) {
	if x == nil || !w.enter() {
		return
	}
	defer w.leave()
	switch x := x.(type) {
	case *syntax.Word:
		if x == nil {
			return
		}
		if lit := x.Lit(); lit == "" || strings.Trim(lit, "0123456789") != "" && lit != "@" && lit != "*" {
			w.evaluates = true
		}
		w.parts(x.Parts)
	case *syntax.BinaryArithm:
		w.arithm(x.X)
		w.arithm(x.Y)
	case *syntax.UnaryArithm:
		w.arithm(x.X)
	case *syntax.ParenArithm:
		w.arithm(x.X)
	case *syntax.FlagsArithm:
		w.arithm(x.X)
	}
}

func (w *walker) test(x syntax.TestExpr) {
	if x == nil || !w.enter() {
		return
	}
	defer w.leave()
	switch x := x.(type) {
	case *syntax.Word:
		w.word(x)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			w.evaluates = true
		}
		w.test(x.X)
		w.test(x.Y)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			w.evaluates = true
		}
		w.test(x.X)
	case *syntax.ParenTest:
		w.test(x.X)
	}
}
