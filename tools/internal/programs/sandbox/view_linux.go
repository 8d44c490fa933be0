package sandbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
	"toolcrib/workspace"
)

// look settles what the programs of a session see.
func (h *holder) look(s *tools.SessionInfo) error {
	v := sandboxinit.View{Level: h.opt.Level.String()}
	places, err := s.Workspace.Places()
	if err != nil {
		return err
	}
	for _, p := range places {
		if p.Canonical == "/" && h.opt.Level != None {
			return &UnavailableError{Level: h.opt.Level, Missing: "the root / holds everything, so that nothing could be kept; serve a directory below it"}
		}
		v.Roots = append(v.Roots, sandboxinit.Dir{Path: p.Canonical, Device: p.Device, Inode: p.Inode, At: outside(p.Names)})
	}
	slices.SortStableFunc(v.Roots, func(a, b sandboxinit.Dir) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	if h.temp == nil { // else that of the holder before it
		if h.temp, err = newTemp(v.Roots, s.Workspace.StateBase()); err != nil {
			return err
		}
	}
	v.Temp = sandboxinit.Dir{Path: h.temp.path}
	home := realHome()
	base, err := h.homeOf(s)
	if err != nil {
		return err
	}
	v.Home = sandboxinit.Dir{Path: filepath.Join(base, "home"), At: []string{"/run/home"}}
	if home != "" && !within(home, v.Roots) {
		v.Home.At[0] = home
		if err := h.toolchains(&v, s, home, filepath.Join(base, "layers")); err != nil {
			return err
		}
	} else if home != "" {
		for _, name := range secrets() {
			v.Hide = append(v.Hide, filepath.Join(home, name))
		}
	}
	if state := s.Workspace.StateBase(); state != "" {
		v.Hide = append(v.Hide, real(state))
	}
	if h.opt.Level == Landlock && home != "" && !within(home, v.Roots) {
		v.Hide = append(v.Hide, home)
	}
	for _, path := range h.opt.Hide {
		v.Hide = append(v.Hide, real(path))
	}
	for _, path := range h.opt.Read {
		if path = real(path); !within(path, v.Roots) { // where programs may write, too
			v.Read = append(v.Read, path)
		}
	}
	h.protection = &protection{rels: s.Workspace.ProtectedPlaces(), roots: v.Roots, home: home}
	if h.opt.Level == Full {
		h.protection.searchAll()
		v.Places, _ = h.protection.before("")
	}
	h.view, h.hidden = v, map[string]bool{}
	h.view.Sockets = h.newSockets()
	h.home = v.Home.At[0]
	if h.opt.Level != Full {
		h.home = v.Home.Path
	}
	return nil
}

// outside are the names of a root that programs need beside its own.
func outside(names []string) []string {
	var list []string
	for _, name := range names {
		if filepath.IsAbs(name) && filepath.Clean(name) == name {
			list = append(list, name)
		}
	}
	return list
}

// realHome is the home directory of the user, "" where there is none.
func realHome() string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	home = real(home)
	if info, err := os.Stat(home); err != nil || !info.IsDir() || home == "/" {
		return ""
	}
	return home
}

// real is a path without links, as far as it exists.
func real(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

func within(path string, roots []sandboxinit.Dir) bool {
	return slices.ContainsFunc(roots, func(d sandboxinit.Dir) bool {
		return path == d.Path || strings.HasPrefix(path, strings.TrimSuffix(d.Path, "/")+"/")
	})
}

// homeOf makes the directory of the state that holds the HOME of a principal in a
// workspace; where no state is kept, HOME lasts as long as the holder.
func (h *holder) homeOf(s *tools.SessionInfo) (string, error) {
	base := filepath.Join(h.temp.path, "state")
	if dir, err := s.Workspace.State(); err == nil {
		folder, err := dir.Folder("sandbox")
		if err != nil {
			return "", err
		}
		defer folder.Close()
		base = filepath.Join(folder.Name(), digest(s.Principal))
	} else if refused, ok := errors.AsType[*workspace.Error](err); !ok || s.Workspace.StateBase() != "" {
		return "", cmp.Or(error(refused), err)
	}
	err := os.MkdirAll(filepath.Join(base, "home"), 0o700)
	return real(base), err
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// toolchains lets programs read what is installed in the home directory. What they add
// to a cache of downloads goes to a layer over it, in dir; it has one user at a time.
func (h *holder) toolchains(v *sandboxinit.View, s *tools.SessionInfo, home, dir string) error {
	for _, name := range readable() {
		if path := filepath.Join(home, name); exists(path) {
			v.Read = append(v.Read, path)
		}
	}
	for _, name := range plainFiles() {
		path := filepath.Join(home, name)
		switch secret, err := holdsSecret(path); {
		case err != nil:
		case secret:
			h.opt.Log.Info("programs do not see a file that seems to hold a secret", "file", path)
		default:
			v.Read = append(v.Read, path)
		}
	}
	locked := h.opt.Level == Full && h.lockLayers(s)
	for _, name := range caches() {
		path := filepath.Join(home, name)
		if !exists(path) {
			continue
		}
		if !locked {
			v.Read = append(v.Read, path)
			continue
		}
		l := sandboxinit.Layer{Lower: path, At: path, Upper: filepath.Join(dir, digest(name), "upper"), Work: filepath.Join(dir, digest(name), "work")}
		for _, made := range []string{l.Upper, l.Work} {
			// A program may have taken the rights to it from itself.
			if err := errors.Join(os.MkdirAll(made, 0o755), os.Chmod(made, 0o755)); err != nil {
				return err
			}
		}
		v.Layers = append(v.Layers, l)
	}
	return nil
}

// lockLayers takes the layers for this holder, unless another process has them.
func (h *holder) lockLayers(s *tools.SessionInfo) bool {
	dir, err := s.Workspace.State()
	if err != nil {
		return true // they are in the temporary directory
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	lock, err := dir.Lock(ctx, "sandbox_"+digest(s.Principal))
	if err != nil {
		return false
	}
	h.free = func() {
		if err := lock.Unlock(); err != nil {
			h.opt.Log.Debug("unlock the layers of the sandbox", "err", err)
		}
	}
	return true
}

func exists(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink == 0
}

// whyNoNamespaces names what forbids them, as far as the system tells.
func whyNoNamespaces() string {
	for _, known := range []struct{ file, forbids, say string }{
		{"/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces is 0"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone is 0"},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns is 1"},
	} {
		if data, err := os.ReadFile(known.file); err == nil && strings.TrimSpace(string(data)) == known.forbids {
			return fmt.Sprintf(" (%s)", known.say)
		}
	}
	return ""
}
