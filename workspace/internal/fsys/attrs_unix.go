//go:build unix

package fsys

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// KeepOwner gives to the owner and group of old. lost names them where either is
// refused.
func KeepOwner(from, to *os.File) (lost string, sameGroup bool, err error) {
	want, err := ownerOf(from)
	if err != nil {
		return "", false, err
	}
	have, err := ownerOf(to)
	if err != nil || want == have {
		return "", true, err
	}
	err = to.Chown(want.uid, want.gid)
	if err == nil {
		return "", true, nil
	}
	if !refused(err) {
		return "", false, err
	}
	lost = fmt.Sprintf("owner %d:%d", want.uid, want.gid)
	if want.gid == have.gid {
		return lost, true, nil
	}
	// A user may still give a file of his own to each group that he is in.
	if err = to.Chown(-1, want.gid); err == nil {
		return lost, true, nil
	}
	if !refused(err) {
		return "", false, err
	}
	return lost, false, nil
}

type owner struct{ uid, gid int }

func ownerOf(f *os.File) (owner, error) {
	fi, err := f.Stat()
	if err != nil {
		return owner{}, err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, errors.ErrUnsupported
	}
	return owner{int(st.Uid), int(st.Gid)}, nil
}

// refused tells an attribute that the system does not let be set from an error of
// I/O.
func refused(err error) bool {
	no := []syscall.Errno{
		syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.ENOSYS, syscall.ENOTSUP, syscall.EOPNOTSUPP,
		syscall.ENOSPC, syscall.EDQUOT, syscall.E2BIG, syscall.ERANGE, syscall.EOVERFLOW,
	}
	return slices.ContainsFunc(no, func(e syscall.Errno) bool { return errors.Is(err, e) })
}
