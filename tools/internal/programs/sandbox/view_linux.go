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
	"regexp"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
	"toolcrib/workspace"
)

// look decides what the programs of a session see.
func (z *zygote) look(s *tools.SessionInfo) error {
	v := sandboxinit.View{Level: z.opt.Level.String()}
	places, err := s.Workspace.OpenRoots()
	if err != nil {
		return err
	}
	for _, p := range places {
		if p.Canonical == "/" && z.opt.Level != None {
			return &UnavailableError{Level: z.opt.Level, Missing: "the root / holds everything, so that nothing could be kept; serve a directory below it"}
		}
		v.Roots = append(v.Roots, sandboxinit.Dir{Path: p.Canonical, Device: p.Device, Inode: p.Inode, At: outside(p.Names)})
	}
	slices.SortStableFunc(v.Roots, func(a, b sandboxinit.Dir) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	if z.temp == nil { // else that of the zygote before it
		if z.temp, err = newTemp(v.Roots, s.Workspace.StateBase()); err != nil {
			return err
		}
	}
	v.Temp = sandboxinit.Dir{Path: z.temp.path}
	home := realHome()
	base, err := z.homeOf(s)
	if err != nil {
		return err
	}
	v.Home = sandboxinit.Dir{Path: filepath.Join(base, "home"), At: []string{"/run/home"}}
	if home != "" && !within(home, v.Roots) {
		v.Home.At[0] = home
		if err := z.toolchains(&v, s, home, filepath.Join(base, "layers")); err != nil {
			return err
		}
	} else if home != "" {
		for _, name := range secretPaths() {
			v.Hide = append(v.Hide, filepath.Join(home, name))
		}
	}
	if state := s.Workspace.StateBase(); state != "" {
		v.Hide = append(v.Hide, real(state))
	}
	if z.opt.Level == Landlock && home != "" && !within(home, v.Roots) {
		v.Hide = append(v.Hide, home)
	}
	for _, path := range z.opt.Hide {
		v.Hide = append(v.Hide, real(path))
	}
	for _, path := range z.opt.Read {
		if path = real(path); !within(path, v.Roots) { // programs may write there anyway
			v.Read = append(v.Read, path)
		}
	}
	z.protection = &protection{rels: s.Workspace.ProtectedPaths(), roots: v.Roots, home: home}
	if z.opt.Level == Full {
		z.protection.searchAll()
		v.Protected, _ = z.protection.before("")
	}
	z.view, z.hidden = v, map[string]bool{}
	z.view.Sockets = z.newSockets()
	z.home = v.Home.At[0]
	if z.opt.Level != Full {
		z.home = v.Home.Path
	}
	return nil
}

// outside returns the absolute names of a root other than its path.
func outside(names []string) []string {
	var list []string
	for _, name := range names {
		if filepath.IsAbs(name) && filepath.Clean(name) == name {
			list = append(list, name)
		}
	}
	return list
}

// realHome returns the home directory of the user, "" = there is none.
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

// real resolves the links of a path that exists.
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

// homeOf makes the state directory for the HOME of a principal in a workspace. Without
// state, HOME lasts as long as the zygote.
func (z *zygote) homeOf(s *tools.SessionInfo) (string, error) {
	base := filepath.Join(z.temp.path, "state")
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

// toolchains lets programs read the toolchains in the home directory. Caches of downloads
// get an overlay, whose upper layer in dir takes the writes; only one zygote at a time can
// use it.
func (z *zygote) toolchains(v *sandboxinit.View, s *tools.SessionInfo, home, dir string) error {
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
			z.opt.Log.Info("programs do not see a file that seems to hold a secret", "file", path)
		default:
			v.Read = append(v.Read, path)
		}
	}
	locked := z.opt.Level == Full && z.lockLayers(s)
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
			// A program may have removed its rights.
			if err := errors.Join(os.MkdirAll(made, 0o755), os.Chmod(made, 0o755)); err != nil {
				return err
			}
		}
		v.Layers = append(v.Layers, l)
	}
	return nil
}

// lockLayers locks the layers for this zygote. It returns false if another process has them.
func (z *zygote) lockLayers(s *tools.SessionInfo) bool {
	dir, err := s.Workspace.State()
	if err != nil {
		return true // the layers are in the temporary directory
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	lock, err := dir.Lock(ctx, "sandbox_"+digest(s.Principal))
	if err != nil {
		return false
	}
	z.free = func() {
		if err := lock.Unlock(); err != nil {
			z.opt.Log.Debug("unlock the layers of the sandbox", "err", err)
		}
	}
	return true
}

func exists(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink == 0
}

// whyNoNamespaces names the setting of the system that forbids namespaces, if it finds one.
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

// The home directory is private as a whole, except for the paths below. A new toolchain
// needs a line here.

// readable returns the directories in which toolchains and programs are installed.
func readable() []string {
	return []string{
		".asdf", ".bun/bin", ".cargo/bin", ".conda", ".deno/bin", ".dotnet", ".ghcup", ".goenv", ".jabba", ".jenv", ".juliaup",
		".local/bin", ".local/lib", ".local/opt", ".local/pipx", ".local/share/fnm", ".local/share/mise", ".local/share/pipx", ".local/share/pnpm", ".local/share/uv", ".local/share/virtualenvs",
		".nodenv", ".nvm", ".opam", ".phpenv", ".pyenv", ".rbenv", ".rustup", ".rvm", ".sdkman", ".swiftly", ".volta",
		".cache/ms-playwright", ".cache/puppeteer",
		"anaconda3", "bin", "go/bin", "mambaforge", "miniconda3", "miniforge3", "sdk",
	}
}

// caches returns the directories in which toolchains store their downloads.
func caches() []string {
	return []string{".cache/pip", ".cargo/git", ".cargo/registry", ".gradle/caches", ".gradle/wrapper", ".ivy2/cache", ".m2/repository", ".nuget/packages", "go/pkg/mod"}
}

// plainFiles returns settings that programs need to work as they do outside the sandbox. A
// file that holds a secret is left out.
func plainFiles() []string {
	return []string{".cargo/config", ".cargo/config.toml", ".condarc", ".config/git/config", ".config/git/ignore", ".config/go/env", ".config/pip/pip.conf", ".config/uv/uv.toml", ".gitconfig", ".gitignore", ".npmrc", ".pip/pip.conf", ".yarnrc", ".yarnrc.yml"}
}

// secretPaths returns the paths of the home directory that are hidden if a root contains it.
func secretPaths() []string {
	return []string{
		".aws", ".azure", ".bash_history", ".cargo/credentials", ".cargo/credentials.toml", ".config/gcloud", ".config/gh", ".config/op", ".config/toolcrib", ".docker", ".git-credentials", ".gnupg", ".kube", ".local/share/keyrings",
		".mozilla", ".config/google-chrome", ".config/chromium", ".netrc", ".npmrc", ".password-store", ".pgpass", ".pypirc", ".python_history", ".ssh", ".terraform.d", ".vault-token", ".zsh_history",
	}
}

// secretText matches text that may be a secret in a settings file.
var secretText = regexp.MustCompile(`(?i)token|passw|secret|_auth\b|credential|extraheader|api_?key|://[^/\s"']*:[^/\s"']*@`)

// holdsSecret reports whether a file seems to hold a secret. The error says that it cannot
// be read.
func holdsSecret(path string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	const most = 64 << 10
	if !info.Mode().IsRegular() || info.Size() > most {
		return true, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	return secretText.Match(data), nil
}
