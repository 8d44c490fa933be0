// Package sandbox has the figures of programs that tools run: ways out of the sandbox,
// what it costs, what survives, floods of output, work as it is done every day.
//
// Start at [Sandbox]. It imports the harness and packages of the server, and no other
// figures.
package sandbox

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"toolcrib/.ci/measure/harness"
)

//go:embed attacks.py
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

// Sandbox tries to get out of the sandbox, as the superuser and as another user, and
// takes its means away.
func Sandbox(ctx context.Context, env harness.Environment) error {
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
			fmt.Printf("user %d at %s: %d attempts, %d got out, except %d that the documents name\n", user, level, len(results), out, known)
			if out > 0 || len(results) < 40 {
				wrong = append(wrong, fmt.Errorf("user %d at %s: %d of %d got out", user, level, out, len(results)))
			}
		}
		if err := w.unchanged(); err != nil {
			wrong = append(wrong, err)
		}
		wrong = append(wrong, w.unkeeping(ctx, env), w.planting(ctx, env), w.stopping(ctx, env))
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

// attack runs the attempts at a level and returns how each ended.
func (w *world) attack(ctx context.Context, env harness.Environment, level string) (map[string]string, error) {
	c, err := harness.DialCommand(w.as(env.Binary, "serve", "--config", w.hidden+"/config.yaml", "--sandbox", level, "--confirm", "client", "--state-dir", w.state, w.root), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	if err := c.Initialize(); err != nil {
		return nil, err
	}
	if err := os.Remove(w.root + "/way"); err != nil && !errors.Is(err, fs.ErrNotExist) { // a command that names it is denied
		return nil, err
	}
	line := strings.Join([]string{
		"rm -f results soft linked mine evil device own; git status >/dev/null 2>&1;", "/usr/bin/python3", "attack.py", w.root, w.visible, w.hidden, w.home, w.state, w.visible + "/sock", w.abstract,
		strconv.Itoa(w.port), strconv.Itoa(c.Cmd.Process.Pid), w.hidden + "/tmp/secret", env.Binary, level, "> results 2> errors",
	}, " ")
	answer, err := c.Call(1, "tools/call", map[string]any{"name": "bash", "arguments": map[string]any{"command": line}})
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

// refusals takes the means of the sandbox away, one after the other, and wants every
// command to be refused. It returns which ran.
func (w *world) refusals(ctx context.Context, env harness.Environment) ([]error, error) {
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
