package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools"
)

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

// inside walks what runs in a shell of its own: it moves that one alone.
func (w *walker) inside(list []*syntax.Stmt) {
	dirs, in := w.dirs, w.stdin
	w.stmts(list)
	w.dirs, w.stdin = dirs, in
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

// redirects returns what redirections open. What they give as standard input holds until
// the statement ends.
func (w *walker) redirects(list []*syntax.Redirect) (touches []tools.Touch, told bool) {
	told = true
	for _, r := range list {
		if r.Hdoc != nil {
			w.parts(r.Hdoc.Parts)
		}
		var word tools.Word
		if r.Word != nil {
			w.parts(r.Word.Parts)
			word = w.value(r.Word)
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if !plainDelimiter(r.Word) {
				w.unknown("a here-document ends at a word that shells read in different ways")
			}
			w.stdin = w.document(r.Hdoc, r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`))
			continue
		case syntax.WordHdoc:
			w.stdin = stdin{given: true, known: word.Kind == tools.Known, text: word.Text + "\n"}
			continue
		case syntax.DplIn:
			w.stdin = stdin{given: true}
			continue
		case syntax.DplOut:
			if word.Kind == tools.Known && strings.Trim(word.Text, "0123456789-") == "" {
				continue
			}
		case syntax.RdrIn, syntax.RdrInOut:
			w.stdin = stdin{given: true, known: word == tools.Word{Text: "/dev/null"}}
		}
		if strings.HasPrefix(word.Text, "/dev/tcp/") || strings.HasPrefix(word.Text, "/dev/udp/") {
			if w.line.Network == "" {
				w.line.Network = word.Text
			}
			continue
		}
		var ok bool
		touches, ok = w.touch(touches, word, r.Op != syntax.RdrIn)
		told = told && ok
	}
	return touches, told
}

// plainDelimiter reports whether every shell takes the same word as the end of a
// here-document.
func plainDelimiter(word *syntax.Word) bool {
	if word == nil {
		return false
	}
	plain := func(text string) bool {
		return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.!:+") == ""
	}
	if len(word.Parts) != 1 {
		return false
	}
	switch part := word.Parts[0].(type) {
	case *syntax.Lit:
		return plain(strings.TrimPrefix(part.Value, `\`))
	case *syntax.SglQuoted:
		return !part.Dollar && plain(part.Value)
	case *syntax.DblQuoted:
		if part.Dollar || len(part.Parts) > 1 {
			return false
		}
		if len(part.Parts) == 0 {
			return true
		}
		lit, ok := part.Parts[0].(*syntax.Lit)
		return ok && plain(lit.Value)
	}
	return false
}

// document is a here-document as standard input.
func (w *walker) document(body *syntax.Word, quoted bool) stdin {
	if body == nil {
		return stdin{given: true, known: true}
	}
	var b strings.Builder
	for _, part := range body.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return stdin{given: true}
		}
		if quoted {
			b.WriteString(lit.Value)
		} else {
			b.WriteString(inDocument(lit.Value))
		}
	}
	return stdin{given: true, known: true, text: b.String()}
}

// inDocument reads the text of a here-document whose end is not quoted.
func inDocument(text string) string {
	return strings.NewReplacer("\\\n", "", `\$`, "$", "\\`", "`", `\\`, `\`).Replace(text)
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
		w.dirs = nil // it runs where it is called
		w.stmt(c.Body)
		w.dirs = dirs
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
		w.stdin = stdin{given: true}
	}
	w.stmt(c.Y)
	w.stdin = in
}

// moved returns where a statement is when it has succeeded, nil if it is no plain cd, or
// goes who knows where.
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
		for _, item := range loop.Items {
			w.expand(item)
		}
	case *syntax.CStyleLoop:
		w.arithm(loop.Init)
		w.arithm(loop.Cond)
		w.arithm(loop.Post)
	}
	w.stmts(c.Do)
}

// parts walks what the parts of a word substitute.
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
		case *syntax.ExtGlob: // most shells read it otherwise: !(x) runs x
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

// arithm walks an expression. The value of a variable in it is evaluated again, with what
// stands in its subscripts.
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

// assigns walks assignments. Some variables decide on what runs.
func (w *walker) assigns(list []*syntax.Assign) {
	for _, a := range list {
		w.arithm(a.Index)
		w.word(a.Value)
		if a.Array != nil {
			for _, elem := range a.Array.Elems {
				w.arithm(elem.Index)
				w.word(elem.Value)
			}
		}
		switch {
		case a.Name == nil: // export "$x", declare -n x
			w.evaluates = true
			if a.Value != nil {
				w.variable(w.value(a.Value))
			}
		case a.Value != nil:
			v := w.value(a.Value)
			w.sets(a.Name.Value, v, w.source(a.Value))
		case a.Array != nil:
			w.sets(a.Name.Value, tools.Word{Kind: tools.Many}, "")
		}
	}
}

// variable reads NAME=VALUE from a word.
func (w *walker) variable(word tools.Word) {
	name, value, ok := strings.Cut(word.Text, "=")
	switch {
	case word.Kind == tools.Known && ok:
		w.sets(name, tools.Word{Text: value}, value)
	case word.Kind != tools.Known && ok && isName(name):
		w.sets(name, tools.Word{Kind: tools.Many}, value)
	case word.Kind != tools.Known:
		w.unknown("it sets a variable whose name nobody can tell")
	}
}

// sets looks at a variable that is set. written is its value as it stands in the text.
func (w *walker) sets(name string, v tools.Word, written string) {
	switch name {
	case "PATH":
		for _, before := range []string{"$PATH:", "${PATH}:"} {
			if strings.HasPrefix(strings.TrimPrefix(written, `"`), before) {
				return // what was found is found
			}
		}
		w.unknown("it sets PATH, by which programs are found")
	case "BASH_ALIASES", "BASH_CMDS", "BASH_ENV", "ENV", "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "PS4", "PROMPT_COMMAND", "PYTHONSTARTUP", "PYTHONPATH",
		"PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT",
		"GIT_CONFIG_PARAMETERS", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "SHELLOPTS", "BASHOPTS", "MAKEFLAGS", "JAVA_TOOL_OPTIONS":
		w.unknown("it sets %s, by which programs run others", name)
	case "PAGER", "GIT_PAGER", "MANPAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS", "SSH_ASKPASS",
		"GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "LESSOPEN", "LESSCLOSE", "BROWSER", "RUSTC_WRAPPER", "CC", "CXX", "SHELL":
		if v.Kind != tools.Known {
			w.unknown("it sets %s to a command that nobody can tell", name)
			return
		}
		w.text(v.Text)
	}
	if strings.HasPrefix(name, "BASH_FUNC_") || strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
		w.unknown("it sets %s, by which programs run others", name)
	}
}

func isName(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == "" && (text[0] < '0' || text[0] > '9')
}

// call walks a simple command.
func (w *walker) call(c *syntax.CallExpr, touches []tools.Touch, told bool) {
	w.assigns(c.Assigns)
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
