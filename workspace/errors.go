package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/tree"

	"golang.org/x/text/unicode/norm"
)

// Rule names the rule that a path broke.
type Rule string

// The rules.
const (
	RuleInvalid    Rule = "invalid"    // empty, NUL, not UTF-8, too long, a URI
	RuleOutside    Rule = "outside"    // leaves the roots
	RuleSpecial    Rule = "special"    // FIFO, socket, device
	RuleProcfs     Rule = "procfs"     // on /proc, /sys or another file system of the kernel
	RuleLoop       Rule = "loop"       // too many symlinks
	RuleNotFound   Rule = "not_found"  // no such path
	RuleKind       Rule = "kind"       // a file where a directory is wanted, or the reverse
	RuleAccess     Rule = "access"     // the system does not permit it
	RuleExists     Rule = "exists"     // an entry exists where none may
	RuleProtected  Rule = "protected"  // programs run or obey the file
	RuleDenied     Rule = "denied"     // a deny rule of the view
	RuleDurability Rule = "durability" // written, but fsync failed
	RuleIO         Rule = "io"         // anything else of the system
)

// Error is the refusal of a path. Msg and Hint read like those of a tool's error. They say
// nothing about files outside the roots, not even whether they exist.
type Error struct {
	Rule Rule
	Path string // as the caller wrote it
	Msg  string
	Hint string
	Err  error // the cause, for logs
}

func (e *Error) Error() string { return e.Msg }
func (e *Error) Unwrap() error { return e.Err }

// refuse returns the error of an operation on p as an *[Error].
func (p Path) refuse(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*tree.Error](err); ok && e.Rel != "." {
		return p.child(e.Rel).refuse(e.Err)
	}
	name := fsys.Show(p.written())
	e := &Error{Path: p.written(), Err: err}
	if denied, ok := errors.AsType[*deniedError](err); ok {
		e.Rule, e.Msg, e.Hint = RuleDenied, name+": "+denied.Error(), "do without it; the user who set the rule can change it"
		return e
	}
	switch {
	case errors.Is(err, tree.ErrMounted):
		e.Rule, e.Msg, e.Hint = RuleInvalid, name+" is where another file system is mounted", "name other entries of its directory"
	case errors.Is(err, fsys.ErrSwapped):
		e.Rule, e.Msg, e.Hint = RuleIO, name+" was replaced by another meanwhile", "try again"
	case errors.Is(err, fsys.ErrEscapes):
		e.Rule, e.Msg, e.Hint = RuleOutside, name+" leads outside the workspace by a symlink", p.view.rootsHint()
	case errors.Is(err, fsys.ErrSpecial):
		e.Rule, e.Msg, e.Hint = RuleSpecial, name+" is a FIFO, socket or device", "only regular files and directories can be opened"
	case errors.Is(err, fsys.ErrKernel):
		e.Rule, e.Msg, e.Hint = RuleProcfs, name+" is on a file system of the kernel (/proc, /sys or the like)", "such files are not data; run a command to query the system"
	case errors.Is(err, syscall.ELOOP):
		e.Rule, e.Msg, e.Hint = RuleLoop, name+" passes too many symlinks", "the links may form a loop; give the path of the target itself"
	case errors.Is(err, fsys.ErrIsDir):
		e.Rule, e.Msg, e.Hint = RuleKind, name+" is a directory, not a file", "list it, or name a file in it"
	case errors.Is(err, syscall.ENOTDIR):
		p.refuseNotDir(e, name)
	case errors.Is(err, fs.ErrNotExist) && p.root.removed():
		p.refuseRoot(e)
	case errors.Is(err, fs.ErrNotExist):
		p.refuseMissing(e, name)
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, fsys.ErrName):
		e.Rule, e.Msg, e.Hint = RuleInvalid, name+" has a name that the file system does not take", "most file systems take names of at most 255 bytes"
	case errors.Is(err, fs.ErrPermission):
		e.Rule, e.Msg, e.Hint = RuleAccess, name+": permission denied", "the user that runs the server may not read it"
	case errors.Is(err, syscall.EAGAIN):
		e.Rule, e.Msg, e.Hint = RuleIO, name+": the tree changes too fast", "try again; something renames files there all the time"
	case errors.Is(err, os.ErrClosed):
		e.Rule, e.Msg = RuleIO, name+": the workspace is closed"
	default:
		e.Rule, e.Msg = RuleIO, name+": "+fsys.Cause(err)
	}
	return e
}

// refuseNotDir fills in e for a file at p that was wanted as a directory, or for a file
// above p.
func (p Path) refuseNotDir(e *Error, name string) {
	if info, err := p.bare().look(true); err == nil && info.Kind != KindDirectory {
		e.Rule, e.Msg, e.Hint = RuleKind, name+" is a file, not a directory", "without a slash at the end it can be read: "+fsys.Show(p.String())
		return
	}
	for above := p.bare(); above.rel != "."; {
		above.rel = path.Dir(above.rel)
		info, err := above.look(true)
		if err != nil {
			continue
		}
		if info.Kind != KindDirectory {
			e.Rule, e.Msg, e.Hint = RuleKind, fsys.Show(above.String())+" is a file, not a directory", "a file has no entries, so "+name+" cannot exist"
			if strings.HasPrefix(e.Path, "~") {
				e.Hint += tildeHint
			}
			return
		}
		break
	}
	p.refuseMissing(e, name)
}

// CheckRoot refuses a path if the name of its root leads to another directory by now, where the
// user would not find what a caller sees. Every change checks this. A reader must call it
// first, since a read goes on in the directory that was opened at the start.
func (p Path) CheckRoot() error {
	if p.root == nil || !p.root.away() {
		return nil
	}
	e := &Error{Path: p.written()}
	p.refuseRoot(e)
	return e
}

// refuseRoot fills in e for a root that has left its name.
func (p Path) refuseRoot(e *Error) {
	name := p.root.names[0]
	_, err := os.Stat(name)
	e.Rule, e.Hint = RuleNotFound, "the user has to make it again, with the same owner, without links and not in another root, or to start the server again"
	switch {
	case !p.root.removed() && err != nil:
		e.Msg = "the root " + fsys.Show(name) + " has been moved away"
	case !p.root.removed():
		e.Msg = "the root " + fsys.Show(name) + " is another directory now than when the server was started"
	case err != nil:
		e.Msg = "the root " + fsys.Show(name) + " has been removed"
	default:
		e.Msg = "the root " + fsys.Show(name) + " has been removed, and another directory has its name now"
	}
}

// removed reports whether the directory itself is gone, even if another has its name.
func (r *root) removed() bool {
	if r == nil {
		return false
	}
	info, err := r.Stat(".")
	return err == nil && info.Links == 0 && info.Inode != 0
}

func (p Path) refuseMissing(e *Error, name string) {
	e.Rule, e.Msg = RuleNotFound, name+" does not exist"
	near := p.view.Nearest(p)
	if near == "" {
		return
	}
	if near == "." && strings.HasPrefix(e.Path, "~") {
		e.Hint = strings.TrimPrefix(tildeHint, "; ")
		return
	}
	e.Hint = "nearest existing path: " + fsys.Show(near)
	switch {
	case norm.NFC.String(near) == norm.NFC.String(p.String()):
		e.Hint += " (the same letters in another Unicode form: " + strconv.QuoteToASCII(near) + ")"
	case strings.HasPrefix(e.Path, "~"):
		e.Hint += tildeHint
	case p.withoutRoot() != (Path{}):
		first, _, _ := strings.Cut(p.rel, "/")
		e.Hint += "; " + fsys.Show(first) + " is a root itself"
	}
}

const tildeHint = "; ~ is an ordinary name here, not the home directory"

// refuseMany is the error of a walk of p that found more entries than most.
func (p Path) refuseMany(most int) error {
	return &Error{
		Rule: RuleInvalid, Path: p.written(),
		Msg:  fmt.Sprintf("%s holds more than %d files and directories", fsys.Show(p.written()), most),
		Hint: "name a directory further down, or limit the depth",
	}
}
