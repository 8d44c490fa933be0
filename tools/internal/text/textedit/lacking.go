package textedit

import (
	"slices"
	"strings"
)

// firstBare reports whether only the first line of an edit lacks the indentation that it
// has in the file.
func firstBare(given, file []string) bool {
	indent, _, _ := split(given[0])
	inFile, _, _ := split(file[0])
	filled := false
	for i, line := range given[1:] {
		if isBlank(line) {
			continue
		}
		a, _, _ := split(line)
		b, _, _ := split(file[i+1])
		if a != b {
			return false
		}
		filled = true
	}
	return filled && indent == "" && inFile != "" && !isBlank(given[0])
}

// absolute reports whether the new lines of an edit, whose old lines lack indentation,
// already have the file's, except perhaps for the first, which then gets it. Else the new
// lines' indentation is read as that of the old ones.
func absolute(before, after, file []string) ([]string, bool) {
	indent, _, _ := split(before[0])
	inFile, _, _ := split(file[0])
	if indent != "" || inFile == "" || isBlank(before[0]) || len(after) == 0 || isBlank(after[0]) {
		return nil, false
	}
	has := func(line string) bool { return isBlank(line) || strings.HasPrefix(line, inFile) }
	all := !slices.ContainsFunc(after[1:], func(line string) bool { return !has(line) })
	switch {
	case firstBare(before, file):
	case !all:
		return nil, false
	case has(after[0]):
	case len(before) == 1 || !adjacent(after, inFile):
		return nil, false
	}
	if first, body, _ := split(after[0]); first == "" && body != "" {
		after = slices.Clone(after)
		after[0] = inFile + after[0]
	}
	return after, true
}

// adjacent reports whether the lines after the first, which alone lacks the indentation of
// the others, belong directly below it, at its level or in the block that it opens. Read
// literally they would be deeper without a reason.
func adjacent(after []string, inFile string) bool {
	i := slices.IndexFunc(after[1:], func(line string) bool { return !isBlank(line) })
	if i < 0 {
		return false
	}
	first := strings.TrimRight(after[0], " \t")
	indent, body, _ := split(after[i+1])
	if indentOf, _, _ := split(first); indentOf != "" {
		return false
	}
	if strings.ContainsRune(":{([,=\\", rune(first[len(first)-1])) || strings.HasSuffix(first, "->") || strings.HasSuffix(first, "=>") || opened(first) {
		return len(indent) > len(inFile)
	}
	return indent == inFile && !strings.ContainsRune(".?:+-*/&|<>=,", rune(body[0]))
}

// opened reports whether a line ends with a word that opens a block.
func opened(line string) bool {
	words := strings.Fields(line)
	return slices.Contains([]string{"then", "do", "else", "begin", "try", "ensure", "finally", "of"}, words[len(words)-1])
}

// onceIndented takes the indentation off the beginning of a new text if the file has it
// before the old text, which lacks it: else it would be written twice.
func (s *session) onceIndented(h hit, old string) hit {
	start := strings.LastIndexByte(s.text[:h.start], '\n') + 1
	inFile := s.text[start:h.start]
	indent, _, _ := split(h.text)
	if inFile == "" || !isBlank(inFile) || !strings.HasPrefix(indent, inFile) || isBlank(h.text) || old[0] == ' ' || old[0] == '\t' ||
		strings.Join(strings.Fields(old), "") == strings.Join(strings.Fields(h.text), "") {
		return h
	}
	s.note("begins with indentation in new_text that the file has before old_text; it was written once")
	h.text = h.text[len(inFile):]
	return h
}
