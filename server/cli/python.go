package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/server"
)

// interpreter is the Python that is configured: a path, or a name to be looked for; "" =
// that of the system.
func interpreter(cfg server.Config) string {
	if cfg.Python == "" || filepath.Base(cfg.Python) == cfg.Python {
		return cfg.Python
	}
	if path, err := filepath.Abs(cfg.Python); err == nil {
		return path
	}
	return cfg.Python
}

// interpreterPlaces are the directories and files without which an interpreter of this
// path does not run: its own, which is a virtual environment where that is configured,
// and those of the interpreter that the environment was made of. The directory that they
// lie in may be the user's home, and is not one of them.
func interpreterPlaces(path string) []string {
	if !filepath.IsAbs(path) {
		return nil
	}
	var places []string
	add := func(names ...string) {
		for _, name := range names {
			if _, err := os.Stat(name); err == nil && !slices.Contains(places, name) && !strings.HasPrefix(name, "/usr/") {
				places = append(places, name)
			}
		}
	}
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		file = path
	}
	for _, file := range []string{path, file} {
		add(file)
		dir := filepath.Dir(filepath.Dir(file))
		for _, name := range []string{"bin", "include", "lib", "lib64", "Lib", "Scripts", "pyvenv.cfg", "share"} {
			if dir != filepath.Dir(dir) {
				add(filepath.Join(dir, name))
			}
		}
	}
	return places
}
