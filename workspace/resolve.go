package workspace

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"toolcrib/workspace/fileuri"
	"toolcrib/workspace/internal/fsys"
)

// MaxPath is how many bytes the text of a path may have: those of Linux end with a NUL.
const MaxPath = 4096 - 1

// Resolve turns the text of a path into a Path. Relative text is under the first
// root; absolute text must be inside a root, which is chosen on a component
// boundary, the longest first, by the name that the user gave it or by that name
// with its symlinks resolved.
//
// "." and ".." are taken out of the text before anything is looked up, so
// "sub/../f" is "f" even where sub is missing or a symlink, and "../ws/f" is
// accepted where it comes back into a root. "~" is a name like any other. Every
// error is an *[Error].
func (w *Workspace) Resolve(text string) (Path, error) {
	if err := checkText(text); err != nil {
		return Path{}, err
	}
	host := w.hostOf(text)
	root, rel := w.locate(host)
	if root == nil {
		return Path{}, w.refuseOutside(text, host)
	}
	if err := checkNames(text, rel); err != nil {
		return Path{}, err
	}
	return Path{view: w, root: root, rel: rel, text: text}, nil
}

// hostOf makes text absolute and clean, slash-separated.
func (w *Workspace) hostOf(text string) string {
	text = filepath.ToSlash(text)
	switch {
	case filepath.IsAbs(text):
		return filepath.ToSlash(filepath.Clean(text))
	case strings.HasPrefix(text, "/"): // Windows: absolute but for the drive
		return path.Clean(text)
	}
	return path.Join(w.first, text)
}

// locate finds the root that holds an absolute path.
func (w *Workspace) locate(host string) (*root, string) {
	var (
		found   *root
		foundIn string
		longest = -1
	)
	for _, r := range w.roots {
		for _, name := range r.names {
			if rel, ok := fsys.Below(name, host); ok && len(name) > longest {
				found, foundIn, longest = r, rel, len(name)
			}
		}
	}
	return found, foundIn
}

func (w *Workspace) refuseOutside(text, host string) error {
	e := &Error{Rule: RuleOutside, Path: text, Msg: fsys.Show(text) + " is outside the workspace", Hint: w.rootsHint()}
	if near := w.inside(host); near != "" {
		e.Hint = "did you mean " + fsys.Show(near) + "? " + e.Hint
	}
	return e
}

// inside returns the path that an outside path may have meant: the longest end of it that
// exists under the first root of the view; "" if none does.
func (w *Workspace) inside(host string) string {
	const most = 8 // components
	names := strings.Split(strings.Trim(host, "/"), "/")
	for i := max(0, len(names)-most); i < len(names); i++ {
		p := Path{view: w, root: w.roots[0], rel: path.Join(names[i:]...)}
		if p.rel == "." {
			return ""
		}
		if _, err := p.look(false); err == nil {
			return p.String()
		}
	}
	return ""
}

func (w *Workspace) rootsHint() string {
	names := make([]string, len(w.roots))
	for i, r := range w.roots {
		names[i] = fsys.Show(r.names[0])
	}
	return "roots: " + strings.Join(names, ", ")
}

// checkText refuses what cannot be the text of a path anywhere.
func checkText(text string) error {
	e := &Error{Rule: RuleInvalid, Path: text, Hint: "give the path of a file or directory"}
	switch {
	case text == "":
		e.Msg, e.Hint = "the path is empty", `the first root itself is "."`
	case len(text) > MaxPath:
		e.Msg = fmt.Sprintf("the path has %d bytes, more than the %d that a path may have", len(text), MaxPath)
	case strings.IndexByte(text, 0) >= 0:
		e.Msg, e.Hint = "the path "+fsys.Show(text)+" holds a NUL character", "no file has such a name; remove it"
	case !utf8.ValidString(text):
		e.Msg, e.Hint = "the path "+fsys.Show(text)+" is not UTF-8", "files whose names are not UTF-8 cannot be named here"
	case len(text) >= 7 && strings.EqualFold(text[:7], "file://"):
		e.Msg, e.Hint = fsys.Show(text)+" is a URI, not a path", uriHint(text)
	default:
		return nil
	}
	return e
}

func uriHint(text string) string {
	path, ok := fileuri.Parse(text)
	if !ok || checkText(path) != nil {
		return "give the path without file://"
	}
	return "give the path: " + fsys.Show(path)
}

// checkNames refuses names below a root that the system takes for others.
func checkNames(text, rel string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	name := fsys.WindowsAlias(rel)
	if name == "" {
		return nil
	}
	return &Error{
		Rule: RuleInvalid, Path: text, Msg: fsys.Show(text) + ": Windows takes the name " + fsys.Show(name) + " for another",
		Hint: "give the long name, without a colon and without a dot or space at its end",
	}
}
