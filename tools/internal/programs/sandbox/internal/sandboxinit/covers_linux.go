package sandboxinit

import (
	"os"

	"golang.org/x/sys/unix"
)

// Where the view has what is laid over places that nobody is to look into. Neither can be
// opened by anybody who has no capabilities, and what they lie in can only be read.
const (
	shutPlace     = "/dev/.shut"
	shutDirectory = shutPlace + "/directory"
	shutFile      = shutPlace + "/file"
)

// makeShut makes them, while /dev can be written.
func makeShut() error {
	if err := os.Mkdir(shutPlace, 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(shutDirectory, 0); err != nil {
		return err
	}
	return os.WriteFile(shutFile, nil, 0)
}

// setCovers prepares the covers of a program.
func (p *plan) setCovers(list []Cover) {
	p.how = unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	p.frozen = unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	directory, file := cstring(shutDirectory), cstring(shutFile)
	for _, c := range list {
		next := cover{path: cstring(c.Path)}
		switch {
		case c.How == CoverReadOnly:
			next.readOnly = true
		case c.How == CoverShut && c.Directory:
			next.source, next.readOnly = directory, true
		case c.How == CoverShut:
			next.source, next.readOnly = file, true
		}
		p.covers = append(p.covers, next)
	}
}
