package files

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/fileuri"
)

// CompletePath returns the paths that prefix can become, in path order: a name
// more than prefix has, directories with a slash at the end. They are as prefix
// writes them, relative to the first root or absolute. What ignore rules leave
// out is left out, and names that begin with a dot where prefix has none. A
// prefix that leads nowhere has none.
func CompletePath(ctx context.Context, prefix string, directories bool) ([]string, error) {
	prefix = filepath.ToSlash(prefix)
	typed := prefix[:strings.LastIndexByte(prefix, '/')+1]
	_, names, err := continuations(ctx, typed, prefix[len(typed):])
	if err != nil {
		return nil, err
	}
	values := make([]string, 0, len(names))
	for _, name := range names {
		if !directories || strings.HasSuffix(name, "/") {
			values = append(values, typed+name)
		}
	}
	return append(values, towards(tools.Session(ctx).Workspace, prefix)...), nil
}

// completeVariable completes the path of a file's URI: its values are absolute,
// and escaped where the expansion of the template needs that.
func completeVariable(ctx context.Context, name, prefix string) ([]string, error) {
	if name != "path" {
		return nil, nil
	}
	prefix = fileuri.FromPath(variablePath(filepath.ToSlash(prefix)))
	typed := prefix[:strings.LastIndexByte(prefix, '/')+1]
	dir, names, err := continuations(ctx, typed, prefix[len(typed):])
	if err != nil {
		return nil, err
	}
	values := make([]string, 0, len(names))
	for _, name := range names {
		values = append(values, absolute(dir, name))
	}
	for _, root := range towards(tools.Session(ctx).Workspace, prefix) {
		values = append(values, absolute("", root))
	}
	return values, nil
}

// absolute words a path as a value of {+path}.
func absolute(dir, name string) string {
	return variable(fileuri.ToPath(dir + name))
}

// continuations returns the entries of the directory typed whose names begin with
// begun, directories with a slash at the end, and the directory's own absolute path
// with one. Only of the first names, which a client will see, is it known whether a
// link leads to a directory.
func continuations(ctx context.Context, typed, begun string) (dir string, names []string, err error) {
	at, err := tools.Resolve(ctx, cmp.Or(typed, "."))
	if err != nil {
		return "", nil, nil
	}
	entries, _, err := fileindex.Walk(ctx, at, fileindex.WalkOptions{MaxDepth: 1, Directories: true, Hidden: strings.HasPrefix(begun, ".")})
	if _, ok := errors.AsType[*workspace.Error](err); ok {
		return "", nil, nil // there is no such directory, or none that can be read
	}
	if err != nil {
		return "", nil, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Rel, begun) || e.Kind == workspace.KindOther || !nameable(e.Rel) {
			continue
		}
		if e.Kind == workspace.KindSymlink && len(names) < tools.MaxCompletions {
			info, err := e.Path.Stat()
			if err != nil {
				continue // it leads out or nowhere
			}
			e.Kind = info.Kind
		}
		if e.Kind == workspace.KindDirectory {
			e.Rel += "/"
		}
		names = append(names, e.Rel)
	}
	return strings.TrimSuffix(filepath.ToSlash(at.Host()), "/") + "/", names, nil
}

// towards returns the roots that a prefix can still become; an empty one all but
// that which relative paths are under.
func towards(ws *workspace.Workspace, prefix string) []string {
	var values []string
	for _, root := range ws.Roots() {
		value := filepath.ToSlash(root) + "/"
		if len(value) <= len(prefix) || !strings.HasPrefix(value, prefix) {
			continue
		}
		if p, err := ws.Resolve(root); prefix == "" && (err != nil || p.String() == ".") {
			continue
		}
		values = append(values, value)
	}
	return values
}

// nameable reports whether a name can be written in a URI or an argument.
func nameable(name string) bool { return utf8.ValidString(name) }
