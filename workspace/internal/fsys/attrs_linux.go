package fsys

import "golang.org/x/sys/unix"

const errNoAttribute = unix.ENODATA
