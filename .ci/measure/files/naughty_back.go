package files

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"toolcrib/.ci/measure/harness"
)

// contents writes each string into a file and reads it back.
func (n *naughtiness) contents() error {
	same, refused, other := 0, 0, 0
	var wrong error
	for i, str := range n.strings {
		name := fmt.Sprintf("content-%d.txt", i) // a new one: a file that exists keeps its form
		a, err := n.server.Use("write_file", map[string]any{"path": name, "content": str})
		if err != nil {
			return err
		}
		if a.Failed {
			refused++
			wrong = errors.Join(wrong, fmt.Errorf("content %q: %s", str, harness.Brief(a.Text)))
			continue
		}
		data, err := os.ReadFile(filepath.Join(n.dir, name))
		if err != nil {
			return err
		}
		text, err := n.server.Must("read_file", map[string]any{"path": name, "line_numbers": false})
		if err != nil {
			return err
		}
		_, body, _ := strings.Cut(text, "\n")
		if string(data) == str && readable(body, str) {
			same++
			continue
		}
		other++
		wrong = errors.Join(wrong, fmt.Errorf("content %q: the file has %q, read_file %q", str, data, body))
	}
	fmt.Printf("| as content | %d | %d | %d | %d |\n", len(n.strings), same, refused, other)
	return wrong
}

// readable reports whether text is what read_file shows of a content: itself, but
// for characters that nobody sees.
func readable(text, content string) bool {
	var b strings.Builder
	for rest := text; rest != ""; {
		var r rune
		if n, _ := fmt.Sscanf(rest, `\u{%x}`, &r); n == 1 && !strings.HasPrefix(content[min(b.Len(), len(content)):], `\u{`) {
			_, after, _ := strings.Cut(rest, "}")
			b.WriteRune(r)
			rest = after
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		b.WriteRune(r)
		rest = rest[size:]
	}
	content = strings.TrimPrefix(content, "\ufeff") // as a byte order mark it is told, not shown
	return b.String() == strings.TrimSuffix(strings.ReplaceAll(content, "\r\n", "\n"), "\n")
}

// names writes a file of each name and looks what came to be.
func (n *naughtiness) names() error {
	if err := n.reset(); err != nil {
		return err
	}
	same, refused, other := 0, 0, 0
	var wrong error
	for _, str := range n.strings {
		before, err := treeOf(n.dir)
		if err != nil {
			return err
		}
		a, err := n.server.Use("write_file", map[string]any{"path": str, "content": "named\n"})
		if err != nil {
			return err
		}
		after, err := treeOf(n.dir)
		if err != nil {
			return err
		}
		if a.Failed {
			if refused++; !maps.Equal(before, after) {
				wrong = errors.Join(wrong, fmt.Errorf("name %q: refused, and yet the tree has changed", str))
			}
			continue
		}
		name := filepath.Clean(str)
		for dir := filepath.Dir(name); dir != "." && before[dir] == ""; dir = filepath.Dir(dir) {
			before[dir] = "/"
		}
		before[name] = "named\n"
		text, err := n.server.Use("read_file", map[string]any{"path": str, "line_numbers": false})
		if err != nil {
			return err
		}
		if _, body, _ := strings.Cut(text.Text, "\n"); !maps.Equal(before, after) || text.Failed || body != "named" {
			other++
			for key := range after {
				if before[key] == after[key] {
					delete(after, key)
				}
			}
			wrong = errors.Join(wrong, fmt.Errorf("name %q: made %.300q; read: %s", str, after, harness.Brief(text.Text)))
		} else {
			same++
		}
		if err := n.reset(); err != nil {
			return err
		}
	}
	fmt.Printf("| as a name | %d | %d | %d | %d |\n", len(n.strings), same, refused, other)
	return errors.Join(wrong, n.untouched())
}
