//go:build linux || darwin

package fsys

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// attributeRule says what becomes of an extended attribute.
type attributeRule int

const (
	attributeLeft  attributeRule = iota // is not copied
	attributeTried                      // is copied if the system permits it
	attributeKept                       // is copied, or lost
)

// ruleOfAttribute returns the rule for an attribute by its name. Attributes that vouch for
// the former content (capabilities, the hashes of IMA and EVM) are not valid for another.
func ruleOfAttribute(name string) attributeRule {
	switch {
	case name == "security.capability", name == "security.ima", name == "security.evm":
		return attributeLeft
	case strings.HasPrefix(name, "security."), strings.HasPrefix(name, "trusted."):
		return attributeTried
	case strings.HasPrefix(name, "user."), isACL(name):
		return attributeKept
	}
	return attributeTried
}

// isACL reports whether an attribute is an access control list: of POSIX, of NFS, or of ZFS
// and others.
func isACL(name string) bool {
	switch name {
	case "system.posix_acl_access", "system.posix_acl_default", "system.nfs4_acl", "system.richacl":
		return true
	}
	return false
}

// CopyAttributes gives to the extended attributes of from, and removes an access control
// list that only to has, from its directory. That changes permissions, so they are set
// afterwards. lost names the attributes that should be kept and are not.
func CopyAttributes(from, to *os.File) (lost []string, err error) {
	names, err := attributes(from)
	if err != nil {
		return nil, err
	}
	have, err := attributes(to)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && len(have) == 0 {
		return nil, nil
	}
	// From user.* back to system.*: a list may forbid the owner to write, and with
	// it to set attributes of his own.
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	lose := func(name string) {
		switch text := "attribute " + name; {
		case ruleOfAttribute(name) != attributeKept:
		case !isACL(name):
			lost = append(lost, text)
		case !slices.Contains(lost, lostACL):
			lost = append(lost, lostACL)
		}
	}
	for _, name := range have {
		if isACL(name) && !slices.Contains(names, name) {
			if err := control(to, func(fd int) error { return unix.Fremovexattr(fd, name) }); err != nil {
				if !refused(err) {
					return lost, err
				}
				lose(name)
			}
		}
	}
	for _, name := range names {
		if ruleOfAttribute(name) == attributeLeft {
			continue
		}
		if err := copyAttribute(from, to, name); err != nil {
			if !refused(err) {
				return lost, err
			}
			lose(name)
		}
	}
	return lost, nil
}

const lostACL = "access control list"

// copyAttribute sets an attribute unless it is the same already: even that can be
// forbidden.
func copyAttribute(from, to *os.File, name string) error {
	want, err := attribute(from, name)
	if errors.Is(err, errNoAttribute) {
		return nil // gone since it was listed
	}
	if err != nil {
		return err
	}
	if have, err := attribute(to, name); err == nil && bytes.Equal(want, have) {
		return nil
	}
	return control(to, func(fd int) error { return unix.Fsetxattr(fd, name, want, 0) })
}

// attributes lists the names; a file system without attributes has none.
func attributes(f *os.File) ([]string, error) {
	list, err := growing(f, unix.Flistxattr)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 }), nil
}

func attribute(f *os.File, name string) ([]byte, error) {
	return growing(f, func(fd int, buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
}

// growing calls read with growing buffers until the result fits.
func growing(f *os.File, read func(fd int, buf []byte) (int, error)) (data []byte, err error) {
	const most = 1 << 20 // more than any kernel gives
	for size := 256; size <= most; size *= 4 {
		buf := make([]byte, size)
		err = control(f, func(fd int) error {
			n, err := read(fd, buf)
			data = buf[:max(n, 0)]
			return err
		})
		if err != unix.ERANGE {
			break
		}
	}
	return data, err
}

// control calls f with the descriptor of a file.
func control(file *os.File, f func(fd int) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = conn.Control(func(fd uintptr) {
		for result = unix.EINTR; result == unix.EINTR; {
			result = f(int(fd))
		}
	})
	if err != nil {
		return err
	}
	return result
}
