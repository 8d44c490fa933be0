package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"toolcrib/server"
)

// checkPrograms looks at the places and variables of programs, on this machine. Its error
// names the first that would do nothing, where whoever wrote it counts on it.
func checkPrograms(cfg server.Config) error {
	wrong := func(key string, i int, format string, args ...any) error {
		return usagef("toolcrib config schema describes the file", "programs.%s[%d]: %s", key, i+1, fmt.Sprintf(format, args...))
	}
	for _, list := range []struct {
		key    string
		places []string
	}{{"read", cfg.Programs.Read}, {"hide", cfg.Programs.Hide}} {
		for i, place := range list.places {
			switch _, err := os.Stat(place); {
			case !filepath.IsAbs(place):
				return wrong(list.key, i, "%q is not an absolute path", place)
			case filepath.Dir(filepath.Clean(place)) == filepath.Clean(place):
				return wrong(list.key, i, "%q is everything; name what is meant below it", place)
			case errors.Is(err, fs.ErrNotExist):
				return wrong(list.key, i, "%q does not exist", place)
			}
		}
	}
	for i, name := range cfg.Programs.Env {
		if name == "" || strings.ContainsAny(name, "= \t\n\x00") {
			return wrong("env", i, "%q is not the name of a variable", name)
		}
	}
	return nil
}

// checkPython refuses an interpreter that cannot be started.
func (p *Process) checkPython(cfg server.Config) error {
	file := interpreter(cfg)
	if file == "" {
		return nil
	}
	if _, err := p.LookPath(file); err != nil {
		return usagef("--python names the interpreter of run_python and code_interpreter", "python: %q cannot be started: %w", cfg.Python, err)
	}
	return nil
}
