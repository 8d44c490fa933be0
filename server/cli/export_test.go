package cli

import "toolcrib/server/config"

// ClientFile returns the file of a client in a scope on a system, for a home
// directory and an environment.
func ClientFile(id, s, goos, home string, getenv func(string) string) (string, error) {
	c, err := findClient(id)
	return c.file(scope(s), config.Home{GOOS: goos, Dir: home, Getenv: getenv}, "project"), err
}

// TooWide says why a directory is too wide to be an implied root.
func TooWide(dir string) string { return tooWide(dir) }
