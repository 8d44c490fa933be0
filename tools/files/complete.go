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

// CompletePath returns the paths that complete prefix by one name, in path order, directories
// with a slash at the end. Like prefix, they are relative to the first root or absolute.
// Ignored entries are left out, and names that begin with a dot unless prefix has that dot. A
// prefix whose directory does not exist has no completions.
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

// absolute returns a path as a value of {+path}.
func absolute(dir, name string) string {
	return variable(fileuri.ToPath(dir + name))
}

// continuations returns the entries of the directory typed whose names begin with begun, and
// the absolute path of that directory. Directories end with a slash. Whether a link leads to a
// directory is checked only for the first names, which a client will see.
func continuations(ctx context.Context, typed, begun string) (dir string, names []string, err error) {
	at, err := tools.Resolve(ctx, cmp.Or(typed, "."))
	if err != nil {
		return "", nil, nil
	}
	entries, _, err := fileindex.Walk(ctx, at, fileindex.WalkOptions{MaxDepth: 1, Directories: true, Hidden: strings.HasPrefix(begun, ".")})
	if _, ok := errors.AsType[*workspace.Error](err); ok {
		return "", nil, nil // the directory does not exist or cannot be read
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
				continue // its target is outside or missing
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

// towards returns the roots that begin with prefix. For an empty prefix it leaves out the
// first root, which relative paths are under.
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
