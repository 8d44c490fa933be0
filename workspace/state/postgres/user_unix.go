//go:build unix

package postgres

import (
	"os"
	"syscall"
)

// nobody is the user of servers that root starts.
const nobody = 65534

// own gives a directory to the user of the server.
func own(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(dir, nobody, nobody)
}

func asUser() *syscall.SysProcAttr {
	if os.Geteuid() != 0 {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
