package command

import (
	"path"
	"strings"

	"toolcrib/tools"
)

// filed describes the operands of a program.
type filed struct {
	skip    int    // operands that are no paths
	values  string // letters of options with a value
	writes  bool   // it changes the files that it opens
	last    bool   // it changes the last operand, and reads the others
	moves   bool   // it changes all, where last is set
	pattern bool   // its first operand is no path unless -e or -f is given
	inPlace bool   // -i makes it change the files that it opens
}

// filedOf returns the operands of a program if they are certainly paths.
func filedOf(name string) (filed, bool) {
	switch name {
	case "rm", "rmdir", "unlink", "mkdir":
		return filed{writes: true, values: "m"}, true
	case "touch":
		return filed{writes: true, values: "drt"}, true
	case "truncate":
		return filed{writes: true, values: "sr"}, true
	case "shred":
		return filed{writes: true, values: "ns"}, true
	case "tee":
		return filed{writes: true}, true
	case "chmod", "chown", "chgrp":
		return filed{writes: true, skip: 1}, true
	case "cp", "ln", "install":
		return filed{last: true, values: "tSmog"}, true
	case "mv":
		return filed{last: true, moves: true, values: "tS"}, true
	case "cat", "tac", "nl", "more", "less", "wc", "file", "stat", "readlink", "realpath", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "base64", "diff", "cmp", "comm":
		return filed{values: "wcfUp"}, true
	case "head", "tail":
		return filed{values: "ncs"}, true
	case "od", "xxd", "hexdump", "strings":
		return filed{values: "jNntlcseoA"}, true
	case "ls", "dir", "du", "tree", "cd", "pushd", "source", ".":
		return filed{values: "ILdP"}, true
	case "sort", "uniq", "cut", "paste", "column", "fold", "expand":
		return filed{values: "kdtofcbTSnws"}, true
	case "grep", "egrep", "fgrep", "rg", "ag":
		return filed{values: "efABCmdDgtT", pattern: true}, true
	case "sed", "gsed":
		return filed{values: "efl", pattern: true, inPlace: true}, true
	}
	return filed{}, false
}

// opens returns the paths that a command certainly opens. told reports whether these are all
// paths that its words name.
func (w *walker) opens(name string, words []tools.Word) (touches []tools.Touch, told bool) {
	if !usual(words[0].Text) {
		return nil, false
	}
	switch name {
	case "pwd", "echo", "printf", "true", "false", ":", "exit", "return", "set", "shift", "wait", "sleep", "umask", "read", "unset", "break", "continue", "alias", "trap":
		return nil, true
	case "dd":
		return w.dd(words[1:])
	case "find":
		return w.finds(words[1:])
	case "git":
		return w.gitIn(words[1:])
	}
	f, ok := filedOf(name)
	if !ok {
		return nil, false
	}
	return w.operands(f, words[1:])
}

// usual reports whether a program is that of the system by its name.
func usual(program string) bool {
	return !strings.Contains(program, "/") || strings.HasPrefix(path.Dir(program), "/usr/") || path.Dir(program) == "/bin"
}

func (w *walker) operands(f filed, args []tools.Word) (touches []tools.Touch, told bool) {
	told = true
	var list []tools.Word
	target := false // an option names the changed path
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.Kind != tools.Known:
			told = false
			list = append(list, a)
		case a.Text == "--":
			list = append(list, args[i+1:]...)
			i = len(args)
		case strings.HasPrefix(a.Text, "--"):
			option, value, given := strings.Cut(a.Text, "=")
			switch {
			case option == "--target-directory" && given:
				target = true
				touches, _ = w.touch(touches, tools.Word{Text: value}, true)
			case option == "--in-place":
				f.writes = f.writes || f.inPlace
			case option == "--regexp" || option == "--file" || option == "--expression":
				f.pattern = false
				told = false
			case given:
				told = false
			}
		case len(a.Text) > 1 && a.Text[0] == '-':
			i += w.option(&f, a.Text[1:], args[i+1:], &touches, &target)
		default:
			list = append(list, a)
		}
	}
	if f.pattern {
		f.skip++
	}
	list = list[min(f.skip, len(list)):]
	for i, a := range list {
		write := f.writes || f.last && !target && i == len(list)-1 || f.moves
		var ok bool
		touches, ok = w.touch(touches, a, write)
		told = told && ok
	}
	return touches, told
}

// option reads a cluster of short options, and returns how many more words it takes.
func (w *walker) option(f *filed, letters string, next []tools.Word, touches *[]tools.Touch, target *bool) int {
	for j := range len(letters) {
		switch letter := letters[j]; {
		case letter == 'i' && f.inPlace:
			f.writes = true
			return 0 // the rest is the suffix of the copy
		case strings.IndexByte(f.values, letter) >= 0:
			if f.pattern && (letter == 'e' || letter == 'f') {
				f.pattern = false
			}
			value, more := tools.Word{Text: letters[j+1:]}, 0
			if value.Text == "" && len(next) > 0 {
				value, more = next[0], 1
			}
			if letter == 't' && f.last {
				*target = true
				*touches, _ = w.touch(*touches, value, true)
			}
			return more
		}
	}
	return 0
}

func (w *walker) dd(args []tools.Word) (touches []tools.Touch, told bool) {
	told = true
	for _, a := range args {
		key, value, _ := strings.Cut(a.Text, "=")
		var ok bool
		if key == "of" || key == "if" {
			touches, ok = w.touch(touches, tools.Word{Text: value, Kind: a.Kind}, key == "of")
			told = told && ok
		} else {
			told = told && a.Kind == tools.Known
		}
	}
	return touches, told
}

// finds returns the directories where find starts. It deletes only below them.
func (w *walker) finds(args []tools.Word) (touches []tools.Touch, told bool) {
	told = true
	write := false
	for _, a := range args {
		write = write || a.Text == "-delete"
		told = told && a.Kind == tools.Known
	}
	for _, a := range args {
		if a.Kind == tools.Known && (strings.HasPrefix(a.Text, "-") || a.Text == "(" || a.Text == "!") {
			break
		}
		touches, _ = w.touch(touches, a, write)
	}
	if len(touches) == 0 {
		touches, _ = w.touch(touches, tools.Word{Text: "."}, write)
	}
	return touches, told
}

// gitIn returns the directory that the options of git name.
func (w *walker) gitIn(args []tools.Word) (touches []tools.Touch, told bool) {
	for i, a := range args {
		if a.Text == "-C" && i+1 < len(args) {
			touches, _ = w.touch(touches, args[i+1], false)
		}
		if a.Kind != tools.Known || !strings.HasPrefix(a.Text, "-") && (i == 0 || args[i-1].Text != "-C") {
			break
		}
	}
	return touches, false
}
