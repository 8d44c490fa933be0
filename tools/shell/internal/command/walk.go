package command

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools"
)

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

// inside walks statements that run in a subshell: a cd in it has no effect outside.
func (w *walker) inside(list []*syntax.Stmt) {
	dirs, in, values := w.dirs, w.stdin, maps.Clone(w.values)
	w.stmts(list)
	w.dirs, w.stdin, w.values = dirs, in, values
}

func (w *walker) stmt(s *syntax.Stmt) {
	if s == nil || !w.enter() {
		return
	}
	defer w.leave()
	before := w.stdin
	defer func() { w.stdin = before }()
	touches, told := w.redirects(s.Redirs)
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		w.call(call, touches, told)
		return
	}
	w.line.Touches = append(w.line.Touches, touches...)
	if s.Cmd != nil {
		w.command(s.Cmd)
	}
}

func (w *walker) command(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		w.assigns(c.Assigns)
	case *syntax.BinaryCmd:
		w.binary(c)
	case *syntax.Block:
		w.stmts(c.Stmts)
	case *syntax.Subshell:
		w.inside(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond)
			w.stmts(c.Then)
		}
	case *syntax.WhileClause:
		w.stmts(c.Cond)
		w.stmts(c.Do)
	case *syntax.ForClause:
		w.loop(c)
	case *syntax.CaseClause:
		w.parts(c.Word.Parts)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.parts(p.Parts)
			}
			w.stmts(item.Stmts)
		}
	case *syntax.FuncDecl:
		dirs := w.dirs
		w.dirs = nil // it runs in the directory of its caller
		w.stmt(c.Body)
		w.dirs = dirs
		w.functions[c.Name.Value] = function{c.Body, w.src}
	case *syntax.ArithmCmd:
		w.arithm(c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			w.arithm(x)
		}
	case *syntax.TestClause:
		w.test(c.X)
	case *syntax.DeclClause:
		w.assigns(c.Args)
	case *syntax.TimeClause:
		w.stmt(c.Stmt)
	case *syntax.CoprocClause:
		w.inside([]*syntax.Stmt{c.Stmt})
	default:
		w.unknown("it has syntax that is not looked through")
	}
}

func (w *walker) binary(c *syntax.BinaryCmd) {
	dirs, in := w.dirs, w.stdin
	w.stmt(c.X)
	switch c.Op {
	case syntax.AndStmt:
		if to := w.moved(c.X, dirs); to != nil {
			both := w.dirs
			w.dirs = to
			w.stmt(c.Y)
			w.dirs = both
			return
		}
	case syntax.Pipe, syntax.PipeAll:
		w.stdin = stdin{given: true, printed: w.printed(c.X)}
	}
	w.stmt(c.Y)
	w.stdin = in
}

// moved returns the directories after a statement has succeeded, nil if it is not a plain cd
// or its target is unknown.
func (w *walker) moved(s *syntax.Stmt, from []string) []string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || len(call.Args) != 2 || call.Args[0].Lit() != "cd" {
		return nil
	}
	now := w.dirs
	w.dirs = from
	to := w.into(w.value(call.Args[1]))
	w.dirs = now
	return to
}

func (w *walker) loop(c *syntax.ForClause) {
	switch loop := c.Loop.(type) {
	case *syntax.WordIter:
		w.sets(loop.Name.Value, tools.Word{Kind: tools.Many}, "")
		var items []tools.Word
		for _, item := range loop.Items {
			for _, v := range w.expand(item) {
				items = append(items, w.meant(v)...)
			}
		}
		w.holds(loop.Name.Value, items...)
		defer w.holds(loop.Name.Value)
	case *syntax.CStyleLoop:
		w.arithm(loop.Init)
		w.arithm(loop.Cond)
		w.arithm(loop.Post)
	}
	w.stmts(c.Do)
}

// call walks a simple command.
func (w *walker) call(c *syntax.CallExpr, touches []tools.Touch, told bool) {
	values := maps.Clone(w.values)
	w.assigns(c.Assigns)
	w.values = values // these are of the command alone
	words := w.words(c.Args)
	if len(words) == 0 {
		w.line.Touches = append(w.line.Touches, touches...)
		return
	}
	before := len(w.line.Commands)
	w.run(words)
	if len(w.line.Commands) == before {
		w.line.Touches = append(w.line.Touches, touches...)
		return
	}
	first := &w.line.Commands[before]
	first.Touches = append(slices.Clone(touches), first.Touches...)
	first.Told = first.Told && told
}
