package files

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"toolcrib/workspace"
)

const windows = runtime.GOOS == "windows"

// fileURI is the URI of a path (RFC 8089).
func fileURI(p workspace.Path) string { return uriOf(filepath.ToSlash(p.Host())) }

// uriOf returns the URI of a slash-separated absolute path.
func uriOf(path string) string {
	u := url.URL{Scheme: "file", Path: path}
	switch server, ok := strings.CutPrefix(path, "//"); {
	case ok: // a share of Windows
		u.Host, u.Path, _ = strings.Cut(server, "/")
		u.Path = "/" + u.Path
	case hasDrive(path):
		u.Path = "/" + path
	}
	return u.String()
}

// pathOf returns the absolute path of a file's URI, slash-separated, and false for
// what is no such URI or names another machine. A percent sign that escapes
// nothing is one; so are the signs that would begin a query or a fragment, which
// files do not have.
func pathOf(uri string, windows bool) (string, bool) {
	const scheme = "file:"
	if len(uri) < len(scheme) || !strings.EqualFold(uri[:len(scheme)], scheme) {
		return "", false
	}
	path := uri[len(scheme):]
	server := ""
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		server, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	if !strings.HasPrefix(path, "/") {
		return "", false
	}
	path = unescape(path)
	switch {
	case server == "" || strings.EqualFold(server, "localhost"):
		return local(path, windows), true
	case windows:
		return "//" + server + path, true
	}
	return "", false
}

// local returns a path of a URI as the machine writes it: on Windows without the
// slash before a drive.
func local(path string, windows bool) string {
	if rest, ok := strings.CutPrefix(path, "/"); ok && windows && hasDrive(rest) {
		return rest
	}
	return path
}

// hasDrive reports whether a path begins with a drive of Windows: "C:".
func hasDrive(path string) bool {
	return len(path) >= 2 && path[1] == ':' && (path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z') &&
		(len(path) == 2 || path[2] == '/')
}

// unescape decodes percent-encoding and keeps what is none.
func unescape(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if n := escape(text[i:]); n >= 0 {
			b = append(b, byte(n))
			i += 2
			continue
		}
		b = append(b, text[i])
	}
	return string(b)
}

// escape returns the byte that an escape at the beginning of text stands for, -1
// where there is none.
func escape(text string) int {
	if len(text) < 3 || text[0] != '%' {
		return -1
	}
	high, low := nibble(text[1]), nibble(text[2])
	if high < 0 || low < 0 {
		return -1
	}
	return high<<4 | low
}

// nibble returns the value of a hexadecimal digit, -1 of another character.
func nibble(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// A variable of the form {+path} is expanded with the escapes that stand in its
// value. Where a name holds what looks like one, its percent sign is escaped.

// variable returns a path as the value of {+path}.
func variable(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		b.WriteByte(path[i])
		if escape(path[i:]) >= 0 {
			b.WriteString("25")
		}
	}
	return b.String()
}

// variablePath returns the path, or the beginning of one, of a value of {+path}.
func variablePath(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		b.WriteByte(value[i])
		if strings.HasPrefix(value[i:], "%25") && escape("%"+value[i+3:]) >= 0 {
			i += 2
		}
	}
	return b.String()
}
