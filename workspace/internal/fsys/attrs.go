package fsys

import (
	"io/fs"
	"os"
)

// A file that replaces another gets its owner and group, permission bits, access control
// list and extended attributes. It does not get setuid, setgid and capabilities, which the
// kernel drops too when a file is written.

// KeepAttributes copies the attributes of from, which info describes, to to. lost names
// those that the system refused ("owner 1000:1000", "attribute user.x", "access control
// list"), so that the caller can write from in place instead; the others are copied all the
// same. If the group is lost, it gets no more rights than everybody has. The error is one
// of I/O.
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
	// Last: a file that its owner may not write takes no more attributes.
	if err := setPerm(to, perm); err != nil {
		if !refused(err) {
			return lost, err
		}
		lost = append(lost, "permissions "+perm.String())
	}
	return lost, nil
}

// setPerm sets permission bits if they differ: the system may forbid even a change to the
// same bits.
func setPerm(f *os.File, perm fs.FileMode) error {
	fi, err := f.Stat()
	if err != nil || fi.Mode().Perm() == perm {
		return err
	}
	return f.Chmod(perm)
}
