package command

import (
	"regexp"
	"slices"
	"strings"

	"toolcrib/tools"
)

// awkRuns reports whether a program of awk may run others.
func awkRuns(args []tools.Word) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.Kind != tools.Known:
			return true
		case a.Text == "-F" || a.Text == "-v":
			i++
		case strings.HasPrefix(a.Text, "-F") || strings.HasPrefix(a.Text, "-v"):
		case strings.HasPrefix(a.Text, "-"):
			return true // -f, -e and the like
		default:
			return strings.Contains(a.Text, "system") || strings.Contains(a.Text, "|") || strings.Contains(a.Text, "getline") || strings.Contains(a.Text, "@")
		}
	}
	return false
}

// sedRuns reports whether a script of sed may run programs: whether it is anything but
// plain substitutions, deletions and prints.
func sedRuns(args []tools.Word) bool {
	plain := regexp.MustCompile(`^\s*(?:(?:\d+|\$|/(?:[^/\\]|\\.)*/)(?:,(?:\d+|\$|/(?:[^/\\]|\\.)*/))?\s*!?\s*)?(?:[pdqDPNGhHgx=]|s/(?:[^/\\]|\\.)*/(?:[^/\\]|\\.)*/[gpiIM0-9]*|s\|(?:[^|\\]|\\.)*\|(?:[^|\\]|\\.)*\|[gpiIM0-9]*|s#(?:[^#\\]|\\.)*#(?:[^#\\]|\\.)*#[gpiIM0-9]*|s,(?:[^,\\]|\\.)*,(?:[^,\\]|\\.)*,[gpiIM0-9]*)?\s*$`)
	safe := func(script string) bool {
		return plain.MatchString(script) || !slices.ContainsFunc(strings.Split(script, ";"), func(part string) bool { return !plain.MatchString(part) })
	}
	given := false
	var operands []tools.Word
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.Kind != tools.Known && !given && len(operands) == 0:
			return true
		case a.Text == "-e" || a.Text == "--expression":
			if i++; i < len(args) && (args[i].Kind != tools.Known || !safe(args[i].Text)) {
				return true
			}
			given = true
		case a.Text == "-f" || strings.HasPrefix(a.Text, "--file") || strings.HasPrefix(a.Text, "--expression=") || strings.HasPrefix(a.Text, "-f"):
			return true
		case a.Kind == tools.Known && len(a.Text) > 1 && a.Text[0] == '-':
			if a.Text[1] != '-' && !strings.HasPrefix(a.Text, "-i") && strings.ContainsAny(a.Text, "ef") {
				return true // -ne SCRIPT
			}
		default:
			operands = append(operands, a)
		}
	}
	return !given && len(operands) > 0 && !safe(operands[0].Text)
}
