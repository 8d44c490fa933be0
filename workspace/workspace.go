// Package workspace keeps every path inside the directories that the user named,
// and is the only place that opens the user's files.
//
// [Workspace.Resolve] turns text into a [Path], which opens, describes and lists files below the
// open roots. Text is never trusted: the kernel (openat2) or os.Root contains each operation
// while it runs, so that it cannot escape while the tree changes. Only regular files and
// directories are opened; others, and all files of a file system of the kernel, are refused
// without blocking. Bind mounts and hard links inside a root belong to it.
//
// It may import workspace/state, workspace/protect, workspace/fileuri and workspace/internal:
// fsys has the system calls, tree whole directory trees, history former contents, journal the
// steps of a change, and store the state of all roots. Three packages see more of it by an
// [Anchor]: fileindex, which Generation reads as an [Index], deny, which DeniedPaths asks as
// [ProgramRules], and recorder.
//
// Read the files in this order, in which most refer to earlier ones alone:
//
//   - roots, paths, files: types.go, root.go, path.go, errors.go, workspace.go, resolve.go,
//     links.go, file.go, opener.go, nearest.go;
//   - programs and the packages that import this one: anchor.go, programs.go;
//   - a change and where it acts: change.go, locate.go;
//   - the state of all roots: sharedstate.go, history_query.go;
//   - the writer: transaction.go first, then failure.go, deny.go, plan.go, plan_tree.go,
//     stage.go, commit.go, keep.go and run.go; recover.go is for changes that were killed.
package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/store"
)

// Options opens a Workspace.
type Options struct {
	// StateBase holds the state of all roots; inside one of them is an error.
	StateBase string
	// StateDefaults are for an empty StateBase: the first outside the roots; with none no state is kept.
	StateDefaults []string
	// History limits how many former contents each root keeps.
	History HistoryBounds
	// Portable opens through os.Root even where the kernel offers openat2.
	Portable bool
	// NoSync omits fsync: a loss of power may undo changes; the end of the process does not.
	NoSync bool
	// AllowProtected lets changes touch protected paths, see package protect.
	AllowProtected bool
}

// Workspace holds the roots of a call. Several goroutines may use it.
type Workspace struct {
	roots []*root // at least one
	first string  // the first directory given at the start, slash-separated
	state *sharedState
	// As Options has them.
	noSync, allowProtected bool
	view                   bool         // made by Narrow, Denying or ForPrograms: the state belongs to another
	deny                   DenyFunc     // nil = none
	programRules           ProgramRules // likewise, see ForPrograms
}

// Open opens the roots. Relative paths are below the first. A root may be a symlink to a
// directory. Every error is an *[Error].
func Open(roots []string, opt Options) (*Workspace, error) {
	w := &Workspace{noSync: opt.NoSync, allowProtected: opt.AllowProtected}
	for _, name := range roots {
		if err := w.add(name, opt.Portable); err != nil {
			w.Close()
			return nil, err
		}
	}
	if len(w.roots) == 0 {
		return nil, errNoRoot()
	}
	var outside []string
	for _, r := range w.roots {
		outside = append(outside, filepath.FromSlash(r.canonical))
	}
	base, err := stateBase(opt, outside)
	if err != nil {
		w.Close()
		return nil, err
	}
	w.state = &sharedState{Store: store.New(base, outside, opt.History)}
	return w, nil
}

func (w *Workspace) add(name string, portable bool) error {
	if err := checkText(name); err != nil {
		return err
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return &Error{Rule: RuleIO, Path: name, Msg: fsys.Show(name) + ": " + fsys.Cause(err), Err: err}
	}
	r, err := openRoot(abs, portable)
	if err != nil {
		return refuseRoot(name, err)
	}
	w.roots = append(w.roots, r)
	if len(w.roots) == 1 {
		w.first = r.names[0]
	}
	r.shown = w.print(r.names[0])
	return nil
}

// print returns the name of a root for results.
func (w *Workspace) print(name string) string {
	if rel, ok := fsys.Below(w.first, name); ok {
		return rel
	}
	return name
}

// Close closes the roots. A view made by Narrow has roots of its own and must be closed
// separately. Open files stay open.
func (w *Workspace) Close() error {
	var errs []error
	for _, r := range w.roots {
		errs = append(errs, r.Close())
	}
	if w.state != nil && !w.view {
		errs = append(errs, w.state.Close())
	}
	return errors.Join(errs...)
}

// Current returns w with the roots at their names by now: one that was removed or moved away
// is taken again if its owner has made it again, see root.again. What has begun goes on in the
// directory where it began. State and history stay, since they belong to the names. The caller
// closes w and not the result. A view is returned as it is.
func (w *Workspace) Current() *Workspace {
	if w == nil || w.view {
		return w
	}
	w.state.taking.Lock()
	defer w.state.taking.Unlock()
	now := cmp.Or(w.state.now, w)
	for i, r := range now.roots {
		if !r.away() {
			continue
		}
		if again := r.again(now.roots); again != nil {
			next := *now
			next.roots, next.view = slices.Clone(now.roots), true
			next.roots[i], now, w.state.now = again, &next, &next
		}
	}
	return now
}

// Identity tells the directories of w from those of another workspace, also from others that
// had the same names before.
func (w *Workspace) Identity() string {
	var id []byte
	for _, r := range w.roots {
		id = fmt.Appendf(id, "%s\x00%x %x\x00", r.names[0], r.self.Device, r.self.Inode)
	}
	return string(id)
}

// Roots returns the roots as the user named them, made absolute.
func (w *Workspace) Roots() []string {
	names := make([]string, len(w.roots))
	for i, r := range w.roots {
		names[i] = filepath.FromSlash(r.names[0])
	}
	return names
}

// Backend returns how operations are contained: "openat2" or "os.Root".
func (w *Workspace) Backend() string { return w.roots[0].Name() }

// Narrow returns a view of only the given directories, each inside a root. It never widens.
// Relative paths mean the same in it as in w and are printed alike; paths outside the
// directories are refused. The caller closes the view.
func (w *Workspace) Narrow(dirs []string) (*Workspace, error) {
	v := &Workspace{first: w.first, state: w.state, noSync: w.noSync, allowProtected: w.allowProtected, view: true, deny: w.deny, programRules: w.programRules}
	for _, name := range dirs {
		if err := v.addNarrow(w, name); err != nil {
			v.Close()
			return nil, err
		}
	}
	if len(v.roots) == 0 {
		return nil, errNoRoot()
	}
	return v, nil
}

func (w *Workspace) addNarrow(of *Workspace, name string) error {
	p, err := of.Resolve(name)
	if err != nil {
		return err
	}
	base, rel, err := of.follow(p.root, p.target(), true, true)
	if err != nil {
		return p.refuse(err)
	}
	r, err := base.narrow(rel)
	if err != nil {
		return p.refuse(err)
	}
	for _, name := range p.root.names {
		r.addNames(path.Join(name, p.rel))
	}
	for _, name := range base.names {
		r.addNames(path.Join(name, rel))
	}
	r.addNames(r.canonical)
	r.shown = w.print(r.names[0])
	w.roots = append(w.roots, r)
	return nil
}

// Generation grows with every change of the files that a walk with the ignore rules finds.
// It is exact if every root has an open [Index] to which the system reports changes: then
// it counts every change that returned before the call. It is not exact if the name of a
// root leads elsewhere by now.
func (w *Workspace) Generation(ctx context.Context) (n uint64, exact bool) {
	for _, r := range w.roots {
		x, ok := w.state.indexed.Load(r.origin)
		if !ok || r.away() {
			return 0, false
		}
		of, exact := x.(Index).Generation(ctx)
		if !exact {
			return 0, false
		}
		n += of
	}
	return n, true
}

func errNoRoot() error {
	return &Error{Rule: RuleInvalid, Msg: "no directory is given", Hint: "name at least one"}
}

// refuseRoot is the error for a root that cannot be opened. It may say all: the user has
// named the root.
func refuseRoot(name string, err error) error {
	e := &Error{Rule: RuleIO, Path: name, Msg: fmt.Sprintf("root %s: %s", fsys.Show(name), fsys.Cause(err)), Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Rule, e.Hint = RuleNotFound, "make the directory first, or name another"
	case errors.Is(err, syscall.ENOTDIR):
		e.Rule, e.Hint = RuleKind, "name the directory that holds it"
	case errors.Is(err, fs.ErrPermission):
		e.Rule, e.Hint = RuleAccess, "the user that runs the server may not read it"
	case errors.Is(err, fsys.ErrKernel):
		e.Rule, e.Hint = RuleProcfs, "its files are not data; name another directory"
	}
	return e
}
