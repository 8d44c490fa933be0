package fsys

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// KeepOwner does nothing: a file belongs to the user who made it, and its access control
// list decides.
func KeepOwner(from, to *os.File) (lost string, sameGroup bool, err error) { return "", true, nil }

// CopyAttributes compares the access control lists: a new file has that of its
// directory, and to set another takes rights that a file opened for writing has
// not.
func CopyAttributes(from, to *os.File) (lost []string, err error) {
	want, err := accessList(from)
	if err != nil {
		return nil, err
	}
	have, err := accessList(to)
	if err != nil {
		return nil, err
	}
	if want != have {
		lost = append(lost, "access control list")
	}
	return lost, nil
}

// accessList is the access control list of a file as text.
func accessList(f *os.File) (string, error) {
	sd, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return "", err
	}
	return sd.String(), nil
}

func refused(err error) bool { return errors.Is(err, os.ErrPermission) }
