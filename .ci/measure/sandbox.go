package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

//go:embed sandbox_attacks.py
var attackScript []byte

// holes are the attempts that get out at level landlock; its documentation names each.
var holes = []string{
	"chmod_outside", "chown_outside", "utime_outside",
	"write_git_config", "write_git_hook", "swap_hooks", "swap_git", "exchange_config", "write_agents_settings", "swap_agents_directory",
	"write_nested_git_config", "write_nested_git_hook", "swap_nested_git",
	"read_denied", "read_denied_by_link", "list_denied", "read_denied_by_wildcard", "link_denied", "open_denied_up", "write_kept", "swap_way_to_denied",
}

// deniedPlaces is the policy of the world.
const deniedPlaces = `policy:
  - {verdict: deny, path: ["closed", "**/*.secret"]}
  - {verdict: deny, access: [write], path: [kept]}
`

// nobody is the ordinary user.
const nobody = 65534

// sandboxFigure tries to get out of the sandbox, as the superuser and as another user, and
// takes its means away.
func sandboxFigure(ctx context.Context, env environment) error {
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = append(users, nobody)
	}
	var wrong []error
	for _, user := range users {
		w, err := newWorld(user)
		if err != nil {
			return err
		}
		env := env
		if env.Binary, err = w.bring(env.Binary); err != nil {
			return errors.Join(err, w.close())
		}
		for _, level := range []string{"full", "landlock"} {
			results, err := w.attack(ctx, env, level)
			if err != nil {
				return errors.Join(err, w.close())
			}
			out, known := 0, 0
			for name, result := range results {
				switch {
				case result != "out":
				case level == "landlock" && slices.Contains(holes, name):
					known++
				default:
					out++
					fmt.Printf("  got out: %s\n", name)
				}
			}
			fmt.Printf("user %d at %s: %d attempts, %d got out beside %d that the documents name\n", user, level, len(results), out, known)
			if out > 0 || len(results) < 40 {
				wrong = append(wrong, fmt.Errorf("user %d at %s: %d of %d got out", user, level, out, len(results)))
			}
		}
		if err := w.unchanged(); err != nil {
			wrong = append(wrong, err)
		}
		ran, err := w.refusals(ctx, env)
		if err != nil {
			return errors.Join(err, w.close())
		}
		wrong = append(wrong, ran...)
		if err := w.close(); err != nil {
			return err
		}
	}
	return errors.Join(wrong...)
}

// world is what lies around a sandbox.
type world struct {
	user                        int
	root, visible, hidden, home string
	state                       string
	closers                     []func() error
	port                        int
	abstract                    string
	victim                      string // what the victim is like
}

func newWorld(user int) (*world, error) {
	w := &world{user: user, abstract: fmt.Sprintf("toolcrib-figure-%d-%d", os.Getpid(), user)}
	if err := w.fill(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *world) dir(base, pattern string) (string, error) {
	dir, err := os.MkdirTemp(base, pattern)
	if err != nil {
		return "", err
	}
	w.closers = append(w.closers, func() error { return os.RemoveAll(dir) })
	return dir, os.Chown(dir, w.user, -1)
}

// shelf is where every user may read.
func shelf() string {
	if os.Getuid() != 0 {
		return "/var/tmp"
	}
	return "/srv"
}

// bring copies a program to where the user can execute it.
func (w *world) bring(program string) (string, error) {
	dir, err := w.dir(shelf(), "toolcrib-program-")
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	there := filepath.Join(dir, filepath.Base(program))
	return there, errors.Join(os.WriteFile(there, data, 0o755), os.Chown(there, w.user, -1))
}

func (w *world) fill() error {
	visible := shelf()
	var err error
	for _, d := range []struct {
		to            *string
		base, pattern string
	}{{&w.visible, visible, "toolcrib-visible-"}, {&w.hidden, "", "toolcrib-hidden-"}, {&w.home, visible, "toolcrib-home-"}, {&w.state, "", "toolcrib-state-"}, {&w.root, "", "toolcrib-root-"}} {
		if *d.to, err = w.dir(d.base, d.pattern); err != nil {
			return err
		}
	}
	if err := os.Chmod(w.visible, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		w.visible + "/victim": "victim\n", w.visible + "/second": "second\n", w.hidden + "/secret": "secret\n", w.hidden + "/tmp/secret": "secret\n",
		w.home + "/.ssh/id_ed25519": "key\n", w.home + "/.netrc": "machine\n",
		w.root + "/attack.py": string(attackScript), w.root + "/.claude/settings.json": "{}\n",
		w.hidden + "/config.yaml": deniedPlaces, w.root + "/closed/key": "key\n", w.root + "/kept/file": "text\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o666), os.Chmod(name, 0o666), os.Chown(name, w.user, -1), os.Chown(filepath.Dir(name), w.user, -1)); err != nil {
			return err
		}
	}
	if err := os.Chmod(w.hidden+"/config.yaml", 0o600); err != nil {
		return err
	}
	for _, dir := range []string{w.root, w.root + "/deep/repo"} {
		if err := w.as("git", "init", "-q", dir).Run(); err != nil {
			return fmt.Errorf("git init: %w", err)
		}
	}
	if err := w.as("sh", "-c", "mkdir "+w.root+"/deep/er && echo key > "+w.root+"/deep/er/token.secret").Run(); err != nil {
		return fmt.Errorf("make what the policy denies: %w", err)
	}
	w.victim = w.look()
	return w.listen()
}

// listen makes sockets of every kind that programs of the host listen on.
func (w *world) listen() error {
	for _, at := range [][2]string{{"unix", w.visible + "/sock"}, {"unix", "@" + w.abstract}, {"tcp", "127.0.0.1:0"}} {
		l, err := net.Listen(at[0], at[1])
		if err != nil {
			return err
		}
		w.closers = append(w.closers, l.Close)
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			w.port = tcp.Port
		}
	}
	if l, err := net.Listen("tcp6", fmt.Sprintf("[::1]:%d", w.port)); err == nil {
		w.closers = append(w.closers, l.Close)
	}
	for _, at := range [][2]string{{"unixgram", w.visible + "/sock.d"}, {"udp", fmt.Sprintf("127.0.0.1:%d", w.port)}} {
		p, err := net.ListenPacket(at[0], at[1])
		if err != nil {
			return err
		}
		w.closers = append(w.closers, p.Close)
		go func() {
			var data [16]byte
			for {
				_, from, err := p.ReadFrom(data[:])
				if err != nil {
					return
				}
				_, _ = p.WriteTo([]byte("y"), from) // an attempt that wants it fails without
			}
		}()
	}
	return errors.Join(os.Chmod(w.visible+"/sock", 0o777), os.Chmod(w.visible+"/sock.d", 0o777))
}

func (w *world) close() error {
	var errs []error
	for _, c := range slices.Backward(w.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// as is a command of the user.
func (w *world) as(args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+w.home, "TOOLCRIB_MEASURE_SECRET=1", "MEASURE_SECRET_VALUE=x")
	if w.user != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(w.user), Gid: uint32(w.user)}}
		cmd.Env = append(cmd.Env, "PATH=/usr/local/bin:/usr/bin:/bin")
	}
	return cmd
}

// attack runs the attempts at a level and returns how each ended.
func (w *world) attack(ctx context.Context, env environment, level string) (map[string]string, error) {
	c, err := dialCommand(w.as(env.Binary, "serve", "--config", w.hidden+"/config.yaml", "--sandbox", level, "--confirm", "client", "--state-dir", w.state, w.root), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.close() }()
	if err := c.initialize(); err != nil {
		return nil, err
	}
	if err := os.Remove(w.root + "/way"); err != nil && !errors.Is(err, fs.ErrNotExist) { // a command that names it is denied
		return nil, err
	}
	line := strings.Join([]string{
		"rm -f results soft linked mine evil device own; git status >/dev/null 2>&1;", "/usr/bin/python3", "attack.py", w.root, w.visible, w.hidden, w.home, w.state, w.visible + "/sock", w.abstract,
		strconv.Itoa(w.port), strconv.Itoa(c.cmd.Process.Pid), w.hidden + "/tmp/secret", env.Binary, level, "> results 2> errors",
	}, " ")
	answer, err := c.call(1, "tools/call", map[string]any{"name": "bash", "arguments": map[string]any{"command": line}})
	if err != nil {
		return nil, err
	}
	if bytes.Contains(answer.Result, []byte(`"isError":true`)) {
		return nil, fmt.Errorf("the attempts were not made: %s", answer.Result)
	}
	data, err := os.ReadFile(filepath.Join(w.root, "results"))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, answer.Result)
	}
	results := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if name, how, ok := strings.Cut(lines.Text(), " "); ok && how != "none" {
			results[name] = how
		}
	}
	if level == "full" { // what landlock lets through is named
		return results, w.unchanged()
	}
	return results, w.restore()
}

// look describes the victim.
func (w *world) look() string {
	info, err := os.Lstat(w.visible + "/victim")
	if err != nil {
		return err.Error()
	}
	data, err := os.ReadFile(w.visible + "/victim")
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), string(data), err)
}

// unchanged checks from outside that nothing got out.
func (w *world) unchanged() error {
	if now := w.look(); now != w.victim {
		return fmt.Errorf("the file outside was %s and is %s", w.victim, now)
	}
	entries, err := os.ReadDir(w.visible)
	if err != nil {
		return err
	}
	if len(entries) != 4 {
		return fmt.Errorf("outside are now %d entries: %v", len(entries), entries)
	}
	for _, name := range []string{"/etc/toolcrib-escaped", "/usr/bin/toolcrib-escaped"} {
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("%s was made", name)
		}
	}
	return nil
}

// restore puts the victim back as it was, where only its mode and times could be changed.
func (w *world) restore() error {
	data, err := os.ReadFile(w.visible + "/victim")
	if err != nil || string(data) != "victim\n" {
		return fmt.Errorf("the file outside is %q: %w", data, err)
	}
	if err := os.Chmod(w.visible+"/victim", 0o666); err != nil {
		return err
	}
	w.victim = w.look()
	return nil
}

// refusals takes the means of the sandbox away, one after the other, and wants every
// command to be refused. It returns which ran.
func (w *world) refusals(ctx context.Context, env environment) ([]error, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if self, err = w.bring(self); err != nil {
		return nil, err
	}
	var ran []error
	for _, r := range []struct {
		what, level string
		prefix      []string
	}{
		{"no user namespaces by sysctl", "full", []string{"unshare", "-U", "-r", "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`, "sh"}},
		{"no user namespaces by seccomp", "full", []string{self, "without", "namespaces"}},
		{"no mounts", "full", []string{self, "without", "mounts"}},
		{"no landlock", "full", []string{self, "without", "landlock"}},
		{"no landlock", "landlock", []string{self, "without", "landlock"}},
		{"no seccomp", "full", []string{self, "without", "seccomp"}},
		{"no seccomp", "landlock", []string{self, "without", "seccomp"}},
	} {
		marker := filepath.Join(w.root, "ran")
		args := append(slices.Clone(r.prefix), env.Binary, "call", "--sandbox", r.level, "--confirm", "client", "--json", "--state-dir", w.state, "bash", `{"command":"touch ran"}`, w.root)
		out, err := w.as(args...).CombinedOutput()
		text := string(out)
		_, made := os.Lstat(marker)
		_ = os.Remove(marker) // where it was made
		var answer struct {
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
		}
		_ = json.Unmarshal(out, &answer) // what is no answer is no refusal
		switch {
		case made == nil:
			ran = append(ran, fmt.Errorf("%s at %s: the command ran: %s", r.what, r.level, text))
		case err == nil && answer.Error.Code == "" || !strings.Contains(text, "sandbox"):
			ran = append(ran, fmt.Errorf("%s at %s: no refusal that names the sandbox: %v %s", r.what, r.level, err, text))
		default:
			fmt.Printf("user %d, %s, %s: refused\n", w.user, r.what, r.level)
		}
	}
	return ran, ctx.Err()
}
