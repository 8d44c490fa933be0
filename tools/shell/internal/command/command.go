// Package command analyses the command line of a shell. It finds the commands that the line
// runs, also through programs and builtins that run others, the files that they certainly
// open, and the parts whose effect is unknown. It judges nothing and runs nothing.
//
// Unknown parts are reported as unknown: a line that does not parse, a word that comes from a
// variable, a script given to a shell. Nothing unknown is taken to be harmless.
//
// Start at [Parse]; run.go and programs.go have the programs that run others, loss.go has what
// is deleted and replaced. The package imports the parser, and the package tools for the types of
// its results.
package command

import (
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools"
)

// Line describes the effects of a command line.
type Line struct {
	Commands []tools.Command // those that may run come last
	Touches  []tools.Touch   // by redirections that belong to no single command
	Unknown  string          // why it may run other commands, "" = it does not
	Writes   bool            // a redirection changes a file
	Losses   []Loss          // what it certainly deletes or replaces
}

// Limits of the analysis. A line beyond them is unknown.
const (
	maxText     = 1 << 20 // bytes of a line, with what its words hold
	maxCommands = 400
	maxDepth    = 200  // of the syntax
	maxNested   = 12   // of lines in the words of a line
	maxFrames   = 2500 // of the parser's stack
	maxWords    = 64   // that braces make of one
	maxTime     = 3 * time.Second
)

// Location is where a line runs.
type Location struct {
	Dir      string // a path of the workspace, "" = its first root
	Anywhere bool   // the directory is unknown
	Env      []string
	// Has reports whether a path names a file of the workspace; nil = no path does.
	Has func(path string) bool
}

// Parse analyses a line.
func Parse(line string, at Location) Line {
	w := &walker{dirs: []string{at.Dir}, values: map[string][]tools.Word{}, functions: map[string]function{}, until: time.Now().Add(maxTime), has: at.Has}
	if at.Anywhere {
		w.dirs = nil
	}
	for _, v := range at.Env {
		w.variable(tools.Word{Text: v})
	}
	w.text(line)
	w.wroteWhatItRuns()
	w.line.Commands = append(w.line.Commands, w.guessed...)
	if w.evaluates && w.code {
		w.unknown("it evaluates text that has a command in it")
	}
	return w.line
}

// walker collects the commands and files of a line.
type walker struct {
	line   Line
	src    string // of the text that is walked
	depth  int
	nested int
	parsed int // bytes
	until  time.Time

	dirs      []string                // where the commands may run; nil = unknown
	values    map[string][]tools.Word // of variables, as far as they are literal
	stdin     stdin
	functions map[string]function

	// evaluates: the line evaluates the values of variables. code: it has quoted text that
	// such an evaluation would run.
	evaluates, code bool

	has     func(path string) bool
	ran     bool            // an earlier command may have made the program that runs now
	known   bool            // commands are not guessed
	guessed []tools.Command // commands that may run
}

// stdin is the standard input of a command.
type stdin struct {
	given bool // by the line
	known bool // text is all of it
	text  string
	// printed has the files whose names it has, as far as they are certain.
	printed []removal
}

func (w *walker) unknown(format string, args ...any) {
	if w.line.Unknown == "" {
		w.line.Unknown = fmt.Sprintf(format, args...)
	}
}

// text walks shell text. The part before a syntax error runs, so it counts.
func (w *walker) text(text string) {
	w.parsed += len(text)
	switch {
	case w.parsed > maxText:
		w.unknown("it is too long to be looked through")
		return
	case w.nested >= maxNested:
		w.unknown("it has lines in lines, too deep to be looked through")
		return
	case strings.ContainsAny(text, "\r\x00"):
		w.unknown("it has a carriage return or a NUL, which shells read in different ways")
	}
	src := w.src
	w.src = text
	w.nested++
	defer func() { w.src, w.nested = src, w.nested-1 }()
	err := w.parse(text)
	switch {
	case errors.Is(err, errBound):
		w.unknown("it is too deep to be looked through")
	case err != nil:
		w.unknown("it cannot be parsed (%v)", err)
	case len(w.line.Commands) > maxCommands:
		w.line.Commands = w.line.Commands[:maxCommands]
		w.unknown("it runs more than %d commands", maxCommands)
	}
}

func (w *walker) parse(text string) (failed error) {
	src, over := &source{text: text, until: w.until}, false
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(src) {
		switch {
		case over: // the loop is not left, since the parser may yield once more, which would panic then
		case err != nil:
			failed, over = err, true
		default:
			w.stmt(s)
			over = len(w.line.Commands) > maxCommands
		}
		if over {
			src.text = ""
		}
	}
	return failed
}

var errBound = errors.New("too deep")

// source feeds the parser, and stops it before its stack grows too deep: a stack overflow ends
// a Go program and cannot be recovered.
type source struct {
	text  string
	until time.Time
}

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	var deep [1]uintptr
	if runtime.Callers(maxFrames, deep[:]) > 0 || time.Now().After(s.until) {
		return 0, errBound
	}
	n := copy(p, s.text[:min(len(s.text), 256)])
	s.text = s.text[n:]
	return n, nil
}

// enter bounds how deep the walk goes; each enter that returns true has its leave.
func (w *walker) enter() bool {
	if w.depth >= maxDepth || time.Now().After(w.until) {
		w.unknown("it is too deep to be looked through")
		return false
	}
	w.depth++
	return true
}

func (w *walker) leave() { w.depth-- }

// add notes a command and the files that it opens in its directories.
func (w *walker) add(c tools.Command) {
	if len(w.line.Commands) > maxCommands {
		return
	}
	w.line.Commands = append(w.line.Commands, c)
}

// touch adds a path to a list, once for each directory that it may be relative to. ok is false
// if the path is unknown.
func (w *walker) touch(list []tools.Touch, word tools.Word, write bool) (_ []tools.Touch, ok bool) {
	text := word.Text
	switch {
	case word.Kind != tools.Known:
		return list, false
	case text == "" || text == "-":
		return list, true
	case path.IsAbs(text) || strings.HasPrefix(text, "~"):
		return append(list, tools.Touch{Path: text, Write: write}), true
	case w.dirs == nil:
		return list, false
	}
	for _, dir := range w.dirs {
		at := tools.Touch{Path: path.Join(dir, text), Write: write}
		if dir == "" {
			at.Path = text
		}
		if !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list, true
}

// maxDirs bounds the directories that a line may be in.
const maxDirs = 8

// moves adds dir to the directories of the commands that follow. They may still run in the old
// ones, since dir may not exist.
func (w *walker) moves(dir tools.Word) {
	to := w.into(dir)
	if w.dirs == nil || to == nil {
		w.dirs = nil
		return
	}
	for _, d := range to {
		if !slices.Contains(w.dirs, d) {
			w.dirs = append(slices.Clip(w.dirs), d)
		}
	}
	if len(w.dirs) > maxDirs {
		w.dirs = nil
	}
}

// into returns the directories that dir may name, nil if unknown.
func (w *walker) into(dir tools.Word) (to []string) {
	if dir.Kind != tools.Known || dir.Text == "-" || w.dirs == nil {
		return nil
	}
	if path.IsAbs(dir.Text) || strings.HasPrefix(dir.Text, "~") {
		return []string{dir.Text}
	}
	for _, d := range w.dirs {
		to = append(to, path.Join(d, dir.Text))
	}
	return to
}

// wroteWhatItRuns marks the programs that the line itself writes.
func (w *walker) wroteWhatItRuns() {
	made := map[string]bool{}
	note := func(list []tools.Touch) {
		for _, t := range list {
			if t.Write {
				made[path.Clean(t.Path)] = true
			}
		}
	}
	note(w.line.Touches)
	for i := range w.line.Commands {
		note(w.line.Commands[i].Touches)
	}
	makes := func(word tools.Word) bool {
		for at := range made {
			if word.Kind == tools.Known && path.Base(at) == path.Base(path.Clean(word.Text)) {
				return true
			}
		}
		return false
	}
	for i := range w.line.Commands {
		c := &w.line.Commands[i]
		if c.Hides != "" || c.Words[0].Kind != tools.Known || isLight(c.Words[0].Text) {
			continue
		}
		name := base(c.Words[0].Text)
		switch {
		case makes(c.Words[0]), interpreter(name) && slices.ContainsFunc(c.Words[1:], makes):
			c.Hides = "the line makes that program"
		case name == "make" || name == "gmake" || name == "npm" || name == "pnpm" || name == "yarn":
			if slices.ContainsFunc([]string{"Makefile", "makefile", "GNUmakefile", "package.json"}, func(f string) bool { return makes(tools.Word{Text: f}) }) {
				c.Hides = "the line makes what it runs"
			}
		}
	}
}
