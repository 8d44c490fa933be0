package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"toolcrib/schema"
	"toolcrib/server/config"
	"toolcrib/workspace"
)

// rootsOf returns the directories that the arguments name, absolute; without
// any, the current directory, unless it is too wide to be served unasked.
func rootsOf(args []string) ([]string, error) {
	if len(args) == 0 {
		return impliedRoot()
	}
	list := make([]string, len(args))
	for i, arg := range args {
		if err := checkDirectory(arg); err != nil {
			return nil, err
		}
		dir, err := filepath.Abs(arg)
		if err != nil {
			return nil, config.Usagef("", "%s: %w", arg, err)
		}
		list[i] = dir
	}
	return list, nil
}

func checkDirectory(arg string) error {
	hint := "toolcrib serve DIR: the directory that the tools may use"
	if arg == "" {
		return config.Usagef(hint, "the name of a directory is empty")
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		names := append(commandNames(commands(nil)), "help")
		if near := schema.Nearest(arg, names); near != "" {
			hint = fmt.Sprintf("did you mean the command %q? It comes first: toolcrib %s", near, near)
		}
		return config.Usagef(hint, "%s: no such directory", arg)
	case !info.IsDir():
		return config.Usagef(hint, "%s: not a directory", arg)
	}
	return nil
}

// impliedRoot returns the current directory, unless it is too wide to be served
// unasked: a client that starts its servers just anywhere would hand over
// everything that the user has.
func impliedRoot() ([]string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, config.Usagef("toolcrib serve DIR", "no directory is given, and the current one is gone: %w", err)
	}
	if why := tooWide(dir); why != "" {
		hint := "to serve it all the same: toolcrib " + config.ShellWord(dir)
		return nil, config.Usagef(hint, "no directory is given: %s is %s, too wide to be served without being named", dir, why)
	}
	return []string{dir}, nil
}

// tooWide says why a directory is too wide to be served without being named, "" if it is
// not: it is the top of a file system, the home directory, or a directory above that.
func tooWide(dir string) string {
	homes := withoutLinks(os.UserHomeDir())
	for _, name := range withoutLinks(dir, nil) {
		if filepath.Dir(name) == name {
			return "the top of the file system"
		}
		if slices.ContainsFunc(homes, func(home string) bool { return workspace.Within(name, home) }) {
			return "the home directory or holds it"
		}
	}
	return ""
}

// withoutLinks returns a directory by its name and by that without links; nothing where
// there is none.
func withoutLinks(dir string, err error) []string {
	if err != nil {
		return nil
	}
	names := []string{filepath.Clean(dir)}
	if canonical, err := filepath.EvalSymlinks(dir); err == nil {
		names = append(names, canonical)
	}
	return names
}

// someRoot is shown in the place of a directory that is not known yet.
func someRoot() []string {
	return []string{filepath.Join(string(filepath.Separator), "path", "to", "project")}
}
