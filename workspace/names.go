package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// below returns host relative to dir, which holds it on a component boundary.
func below(dir, host string) (rel string, ok bool) {
	if sameName(dir, host) {
		return ".", true
	}
	if !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	if len(host) > len(dir) && sameName(dir, host[:len(dir)]) {
		return host[len(dir):], true
	}
	return "", false
}

// sameName compares the names of directories as the system does.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// show makes a path fit for a message: characters that do not print, such as
// those that reverse the direction of text, are escaped, and a long one is cut.
func show(text string) string {
	const most = 200
	cut := ""
	if len(text) > most {
		cut = fmt.Sprintf("... (%d bytes)", len(text))
		text = strings.ToValidUTF8(text[:most], "")
	}
	for _, r := range text {
		if r == '\uFFFD' || !strconv.IsPrint(r) {
			return strconv.Quote(text) + cut
		}
	}
	return text + cut
}

// cause words a system error without the host path that it carries.
func cause(err error) string {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
