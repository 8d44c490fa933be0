package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// best is the level of macOS: rules for sandbox-exec in place of Landlock. There are no
// namespaces.
const best = Landlock

const lacks = "macOS has no namespaces; its strongest level is --sandbox=landlock, by sandbox-exec"

// platform is the part of an engine that depends on the system: a directory that holds the
// temporary directory and HOME of all programs, as long as the server runs.
type platform struct {
	mu      sync.Mutex
	private string
}

func (p *platform) prepare(ctx context.Context, opt Options, c Command) (*exec.Cmd, Report, error) {
	if opt.Level == None {
		return uncontained(c), Report{Level: None, Network: "on"}, nil
	}
	if c.Network {
		return nil, Report{}, &UnavailableError{Level: opt.Level, Missing: "macOS cannot limit the network by host"}
	}
	s := tools.Session(ctx)
	if s == nil || s.Workspace == nil {
		return nil, Report{}, errors.New("a program is started outside of a call")
	}
	private, err := p.directory()
	if err != nil {
		return nil, Report{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, Report{}, err
	}
	denied, err := s.Workspace.DeniedPaths(ctx)
	if err != nil {
		return nil, Report{}, err
	}
	if c.ReadOnly {
		for _, root := range s.Workspace.Roots() {
			denied = append(denied, workspace.DeniedPath{Root: root, Denial: workspace.Denial{Readable: true}})
		}
	}
	rules := profile(s.Workspace.Roots(), private, home, opt) + denyRules(denied)
	cmd := exec.Command("/usr/bin/sandbox-exec", append([]string{"-p", rules, "--"}, c.Args...)...)
	cmd.Dir = c.Dir.Host()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(private, "home"), "TMPDIR=" + filepath.Join(private, "tmp")}
	for _, name := range append([]string{"LANG", "LC_ALL", "TERM", "TZ", "USER", "LOGNAME", "SHELL", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "JAVA_HOME", "GOROOT"}, opt.Env...) {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, c.Env...)
	return cmd, Report{Level: Landlock, Network: "off"}, nil
}

// directory makes the private directory, once.
func (p *platform) directory() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.private != "" {
		return p.private, nil
	}
	dir, err := os.MkdirTemp("", "toolcrib-box-")
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // rules are about paths without links
		return "", err
	}
	for _, name := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return "", err
		}
	}
	p.private = dir
	return dir, nil
}

func (p *platform) release() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.private == "" {
		return nil
	}
	defer func() { p.private = "" }()
	return os.RemoveAll(p.private)
}

// profile returns the rules for a program, of which the last matching one counts. It writes
// only to the roots and the private directory, cannot read private paths of the home
// directory or hidden paths, has no network, and starts nothing through the desktop.
func profile(roots []string, private, home string, opt Options) string {
	var b strings.Builder
	b.WriteString("(version 1)\n(allow default)\n(deny network*)\n(deny lsopen)\n(deny appleevent-send)\n(deny file-write*)\n")
	b.WriteString(`(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper") (regex #"^/dev/(fd/|ttys|ptmx)"))` + "\n")
	rule := func(verdict, path string) {
		fmt.Fprintf(&b, "(%s (subpath %s))\n", verdict, quoted(path))
	}
	hidden := []string{"Library/Keychains", "Library/Cookies", "Library/Application Support", "Library/Messages", "Library/Mail", ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".config/gh", ".config/gcloud", ".config/toolcrib"}
	for _, name := range hidden {
		rule("deny file-read*", filepath.Join(home, name))
	}
	for _, path := range opt.Read {
		rule("allow file-read*", path)
	}
	for _, path := range append([]string{private}, roots...) {
		rule("allow file-read* file-write*", path)
		rule("allow network-bind network-outbound", path) // sockets that are files
	}
	for _, path := range opt.Hide {
		rule("deny file-read* file-write*", path)
	}
	for _, root := range roots {
		for _, name := range []string{".git/hooks", ".git/config"} {
			rule("deny file-write*", filepath.Join(root, name))
		}
	}
	// A setuid file would work outside the sandbox too.
	b.WriteString("(deny file-write-setugid)\n")
	return b.String()
}

// denyRules returns the rules for the denied paths. They must follow the rules that allow.
func denyRules(denied []workspace.DeniedPath) string {
	var b strings.Builder
	for _, c := range denied {
		what := "file-read* file-write*"
		if c.Readable {
			what = "file-write*"
		}
		fmt.Fprintf(&b, "(deny %s (subpath %s))\n", what, quoted(filepath.Join(c.Root, c.Rel)))
	}
	return b.String()
}

// quoted returns a text as a string of the profile language.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
