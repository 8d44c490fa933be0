package cli

import (
	"fmt"
	"os"
	"path/filepath"

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
		names := append(commandNames(commands()), "help")
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
	if err := workspace.ImpliedRoot(dir); err != nil {
		return nil, config.BadRoot(fmt.Errorf("no directory is given: %w", err))
	}
	return []string{dir}, nil
}

// someRoot is shown in the place of a directory that is not known yet.
func someRoot() []string {
	return []string{filepath.Join(string(filepath.Separator), "path", "to", "project")}
}
