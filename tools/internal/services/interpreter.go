package services

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// InterpreterFiles returns the directories and files without which an interpreter of this
// path does not run: its own, which is a virtual environment where that is configured,
// and those of the interpreter that the environment was made of. The directory that they
// lie in may be the user's home, and is not one of them. A path that is not absolute has
// none.
func InterpreterFiles(path string) []string {
	if !filepath.IsAbs(path) {
		return nil
	}
	var files []string
	add := func(names ...string) {
		for _, name := range names {
			if _, err := os.Stat(name); err == nil && !slices.Contains(files, name) && !strings.HasPrefix(name, "/usr/") {
				files = append(files, name)
			}
		}
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = path
	}
	for _, file := range []string{path, target} {
		add(file)
		dir := filepath.Dir(filepath.Dir(file))
		for _, name := range []string{"bin", "include", "lib", "lib64", "Lib", "Scripts", "pyvenv.cfg", "share"} {
			if dir != filepath.Dir(dir) {
				add(filepath.Join(dir, name))
			}
		}
	}
	return files
}
