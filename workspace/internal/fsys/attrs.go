package fsys

import (
	"io/fs"
	"os"
)

// What a file that takes the place of another keeps of it is its owner and group,
// its permission bits, its access control list and its extended attributes. Left
// behind is what the kernel itself drops when a file is written: setuid, setgid and
// capabilities.

// KeepAttributes gives to the attributes of from, which info describes. lost names
// what the system refused to keep ("owner 1000:1000", "attribute user.x", "access
// control list"), so that the caller can write from in place instead; what can be
// kept is kept all the same. Where the group is lost, it gets no more rights than
// everybody has. The error is one of I/O.
func KeepAttributes(from, to *os.File, info Info) (lost []string, err error) {
	perm := info.Mode.Perm()
	owner, sameGroup, err := KeepOwner(from, to)
	if err != nil {
		return nil, err
	}
	if owner != "" {
		lost = append(lost, owner)
	}
	if !sameGroup {
		perm = perm&^0o070 | perm&0o007<<3
	}
	more, err := CopyAttributes(from, to)
	lost = append(lost, more...)
	if err != nil {
		return lost, err
	}
	// Last, since a file that its owner may not write gets no more attributes.
	if err := setPerm(to, perm); err != nil {
		if !refused(err) {
			return lost, err
		}
		lost = append(lost, "permissions "+perm.String())
	}
	return lost, nil
}

// setPerm sets permission bits where they differ: a change that is none can be
// forbidden.
func setPerm(f *os.File, perm fs.FileMode) error {
	fi, err := f.Stat()
	if err != nil || fi.Mode().Perm() == perm {
		return err
	}
	return f.Chmod(perm)
}
