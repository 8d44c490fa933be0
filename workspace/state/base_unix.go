//go:build unix

package state

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// FallbackBase returns the directory for the states of a user whose roots hold the user's
// own one, as the home directory does; "" if the system has none.
func FallbackBase() string {
	return filepath.Join("/var/tmp", "toolcrib-"+strconv.Itoa(os.Geteuid()))
}

// refuseForeign refuses a base whose name anybody may take, as in /var/tmp, unless it is a
// directory of this user: the owner of a base can replace the state. r is the base as it
// was opened.
func refuseForeign(base string, r *os.Root) error {
	parent, err := os.Stat(filepath.Dir(base))
	if err != nil {
		return err
	}
	if parent.Mode().Perm()&0o002 == 0 {
		return nil
	}
	named, err := os.Lstat(base)
	if err != nil {
		return err
	}
	opened, err := r.Stat(".")
	if err != nil {
		return err
	}
	if named.Mode()&fs.ModeSymlink != 0 || !os.SameFile(named, opened) {
		return fmt.Errorf("the state directory %s is a link that anybody could have made; name its target", base)
	}
	if st, ok := opened.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("the state directory %s belongs to another user", base)
	}
	return r.Chmod(".", 0o700)
}
