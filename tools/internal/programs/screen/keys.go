package screen

import (
	"slices"
	"strings"
)

// key is a key by its names, and the bytes that it sends.
type key struct {
	names string // the first is shown
	sends string
	// cursor says that it sends ESC O instead of ESC [ if an application asks for that.
	cursor bool
}

func keys() []key {
	return []key{
		{"enter return", "\r", false}, {"tab", "\t", false}, {"esc escape", "\x1b", false}, {"space", " ", false},
		{"backspace", "\x7f", false}, {"delete del", "\x1b[3~", false}, {"insert", "\x1b[2~", false},
		{"up arrow-up", "\x1b[A", true}, {"down arrow-down", "\x1b[B", true},
		{"right arrow-right", "\x1b[C", true}, {"left arrow-left", "\x1b[D", true},
		{"home", "\x1b[H", true}, {"end", "\x1b[F", true},
		{"pageup page-up pgup", "\x1b[5~", false}, {"pagedown page-down pgdn", "\x1b[6~", false},
		{"shift-tab", "\x1b[Z", false},
		{"f1", "\x1bOP", false}, {"f2", "\x1bOQ", false}, {"f3", "\x1bOR", false}, {"f4", "\x1bOS", false},
		{"f5", "\x1b[15~", false}, {"f6", "\x1b[17~", false}, {"f7", "\x1b[18~", false}, {"f8", "\x1b[19~", false},
		{"f9", "\x1b[20~", false}, {"f10", "\x1b[21~", false}, {"f11", "\x1b[23~", false}, {"f12", "\x1b[24~", false},
	}
}

// KeyNames returns the names that [Screen.Key] knows, in addition to ctrl-a to ctrl-z and
// alt- with any key or character.
func KeyNames() []string {
	var names []string
	for _, k := range keys() {
		name, _, _ := strings.Cut(k.names, " ")
		names = append(names, name)
	}
	return names
}

// Key returns the bytes that a key sends to the program now; ok is false for an unknown
// key. A nil screen is one in its initial state.
func (s *Screen) Key(name string) (sends string, ok bool) {
	if len([]rune(name)) == 1 {
		return name, true
	}
	plain := strings.NewReplacer("_", "-", "+", "-", "control-", "ctrl-", "c-", "ctrl-", "m-", "alt-").Replace(strings.ToLower(name))
	for _, k := range keys() {
		if slices.Contains(strings.Fields(k.names), plain) {
			if k.cursor && s != nil && s.keypad {
				return "\x1bO" + k.sends[2:], true
			}
			return k.sends, true
		}
	}
	if rest, found := strings.CutPrefix(plain, "alt-"); found {
		if sends, ok := s.Key(rest); ok {
			return "\x1b" + sends, true
		}
	}
	if rest, found := strings.CutPrefix(plain, "ctrl-"); found {
		return control(rest)
	}
	return "", false
}

func control(rest string) (string, bool) {
	if rest == "space" {
		return "\x00", true
	}
	if len(rest) != 1 {
		return "", false
	}
	switch c := rest[0]; {
	case c >= 'a' && c <= 'z':
		return string(rune(c - 'a' + 1)), true
	case c >= '[' && c <= '_': // [ \ ] ^ _
		return string(rune(c - '@')), true
	case c == '@':
		return "\x00", true
	}
	return "", false
}
