package files

import (
	"path/filepath"
	"strconv"
	"strings"

	"toolcrib/workspace"
	"toolcrib/workspace/fileuri"
)

// fileURI is the URI of a path.
func fileURI(p workspace.Path) string { return fileuri.Format(filepath.ToSlash(p.Host())) }

// A variable of the form {+path} is expanded with the escapes in its value. If a name has text
// that looks like an escape, its percent sign is escaped.

// variable returns a path as the value of {+path}.
func variable(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		b.WriteByte(path[i])
		if escapes(path[i:]) {
			b.WriteString("25")
		}
	}
	return b.String()
}

// variablePath returns the path, or the beginning of a path, of a value of {+path}.
func variablePath(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		b.WriteByte(value[i])
		if strings.HasPrefix(value[i:], "%25") && escapes("%"+value[i+3:]) {
			i += 2
		}
	}
	return b.String()
}

// escapes reports whether a text begins with a percent sign that escapes a byte.
func escapes(text string) bool {
	if len(text) < 3 || text[0] != '%' {
		return false
	}
	_, err := strconv.ParseUint(text[1:3], 16, 8)
	return err == nil
}
