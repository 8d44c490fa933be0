// Package fileuri turns absolute paths into file URIs (RFC 8089) and back. It is text alone:
// it imports nothing of toolcrib and looks at no file. Start at [Format] and [Parse].
package fileuri

import (
	"net/url"
	"runtime"
	"strconv"
	"strings"
)

// Format returns the URI (RFC 8089) of a slash-separated absolute path.
func Format(path string) string {
	u := url.URL{Scheme: "file", Path: ToPath(path)}
	if share, ok := strings.CutPrefix(path, "//"); ok { // of Windows
		u.Host, u.Path, _ = strings.Cut(share, "/")
		u.Path = "/" + u.Path
	}
	return u.String()
}

// Parse returns the absolute path of a file URI, slash-separated and not cleaned. It returns
// false for other text and for a URI that names another machine. A percent sign that escapes
// nothing is part of the path; so are "?" and "#", since files have no query or fragment.
func Parse(uri string) (path string, ok bool) {
	return parse(uri, runtime.GOOS == "windows")
}

func parse(uri string, windows bool) (string, bool) {
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
		return fromPath(path, windows), true
	case windows:
		return "//" + server + path, true
	}
	return "", false
}

// ToPath returns the unescaped path of a URI for a slash-separated absolute path: with a slash
// before a Windows drive.
func ToPath(path string) string {
	if hasDrive(path) {
		return "/" + path
	}
	return path
}

// FromPath reverses ToPath for the running system.
func FromPath(path string) string { return fromPath(path, runtime.GOOS == "windows") }

func fromPath(path string, windows bool) string {
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

// unescape decodes percent-encoding and keeps other percent signs.
func unescape(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+3 <= len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(c))
				i += 2
				continue
			}
		}
		b = append(b, text[i])
	}
	return string(b)
}
