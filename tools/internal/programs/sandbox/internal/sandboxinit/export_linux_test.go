package sandboxinit

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Means are what can be left out of the sandbox, each alone.
var Means = map[string]func(h *zygote) error{
	"no rules of Landlock": func(h *zygote) (err error) {
		h.rules, err = ruleset([]grant{{path: "/", rights: mayWrite | devices}}, h.view.Level == Full)
		return err
	},
	"no filter of system calls": func(h *zygote) error {
		h.filter = unix.SockFprog{Len: 1, Filter: &[]unix.SockFilter{ret(retAllow)}[0]}
		return nil
	},
	"mounts that can be written to": func(*zygote) error {
		return unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	},
	"no private /tmp": func(*zygote) error { // what is private there is covered no more
		for unix.Unmount("/tmp", unix.MNT_DETACH) == nil {
		}
		return nil
	},
	KeptCapabilities: func(h *zygote) error {
		return unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &h.caps[0])
	},
	noView:         nil,
	NothingLeftOut: func(*zygote) error { return nil },
}

const (
	noView = "no mounts at all"
	// KeptCapabilities are kept by root alone: execve takes them from others.
	KeptCapabilities = "capabilities that are kept"
	// NothingLeftOut shows that what leaves means out does not do so by itself.
	NothingLeftOut = "nothing left out"
)

// WeakFile is where the process of a test names one of the Means for the zygotes that it
// starts.
func WeakFile(process int) string { return fmt.Sprintf("/tmp/toolcrib-weak-%d", process) }

// This is evaluated before the init function that makes a process a zygote.
var _ = weak()

func weak() bool {
	if os.Getenv(Variable) != roleZygote {
		return false
	}
	means, err := os.ReadFile(WeakFile(os.Getppid()))
	if err != nil {
		return false
	}
	runtime.LockOSThread()
	unix.CloseOnExec(server)
	h := &zygote{}
	if err := h.holdWeakly(string(means)); err != nil {
		_ = sendEvent(server, Event{Kind: EvError, Text: "the test: " + err.Error()})
		os.Exit(1)
	}
	os.Exit(0)
	return true
}

func (h *zygote) holdWeakly(means string) error {
	if err := h.open(); err != nil {
		return err
	}
	if means == noView {
		h.view.Level = None // nothing is made
		if _, err := h.make(); err != nil {
			return err
		}
		h.view.Level = Full
		rules, err := ruleset(h.grants(false), true)
		if err != nil {
			return err
		}
		f := filter(true, true)
		h.rules, h.filter, h.tree = rules, unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}, &tree{view: h.view}
		if err := loopback(); err != nil {
			return err
		}
		return h.keep(nil)
	}
	notes, err := h.make()
	if err != nil {
		return err
	}
	if err := Means[means](h); err != nil {
		return err
	}
	return h.keep(notes)
}
