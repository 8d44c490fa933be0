package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// stops are commands that are to keep others from running: each is followed by one in the
// same server and one after a restart.
var stops = map[string]string{
	"pipe as .git, held open":     "mkdir -p z; mkfifo z/.git; (exec 3<>z/.git; sleep 20) >/dev/null 2>&1 & sleep .1",
	"unreadable .git":             "mkdir -p y/.git; chmod 0 y/.git",
	"unreadable .git as a repo":   "git init -q u; chmod 0 u/.git; chmod 0 u",
	"unreadable directories":      "mkdir -p q/w/.claude; chmod 0 q/w/.claude; chmod 0 q/w q",
	"home without rights":         "mkdir -p ~/.cache ~/go/pkg ~/.cargo; chmod 0 ~/.cache ~/go ~/.cargo; chmod 0 ~",
	"home of links":               "rm -rf ~/.cache ~/go; ln -s / ~/.cache; ln -s /nowhere ~/go",
	"home of pipes":               "rm -rf ~/.cache ~/go; mkfifo ~/.cache ~/go",
	"temporary directory":         "chmod 0 /tmp /var/tmp",
	"way to the root":             "d=$(dirname $PWD); mv $d $d.x; chmod 0 $d $(dirname $d)",
	"way to the root, removed":    "d=$(dirname $PWD); cd /; rm -rf $d; rmdir $d $(dirname $d)",
	"many places":                 "/usr/bin/python3 -c 'import os\nfor i in range(6000): os.makedirs(\"m/%d\" % i); open(\"m/%d/.mcp.json\" % i, \"w\").close()'",
	"deep submodules":             "mkdir -p .git/modules/a/{HEAD,objects,refs}; mkdir -p .git/modules/$(printf 'd/%.0s' $(seq 40))",
	"a loop of links":             "ln -s .husky .husky2; ln -s .claude .claude3; ln -s loop loop; mkdir l; ln -s ../l l/.git; ln -s .mcp.json l/.mcp.json",
	"a .git that leads to itself": "mkdir k; echo 'gitdir: .git' > k/.git; mkdir j; echo 'gitdir: /dev/zero' > j/.git; ln -s /dev/zero j/.claude",
	"configuration in circles":    "git init -q c; echo '[include] path = config' >> c/.git/config; yes '[include] path = x' | head -20000 >> c/.git/config",
}

// stopping tries what keeps others from running, and roots that are repositories.
func (w *world) stopping(ctx context.Context, env harness.Environment) error {
	var wrong []error
	for name, command := range stops {
		if err := ctx.Err(); err != nil {
			return err
		}
		base, err := w.dir("", "toolcrib-stop-")
		if err != nil {
			return err
		}
		root := base + "/on/the/way"
		if err := w.as("git", "init", "-q", root).Run(); err != nil {
			return err
		}
		s := &planter{world: w, env: env, root: root}
		for _, step := range []string{command, "", "restart", "", "restart"} {
			if step == "restart" {
				if err := s.stop(); err != nil {
					return err
				}
				continue
			}
			text, err := s.bash(step + "\necho alive")
			if err != nil {
				return err
			}
			if !strings.Contains(text, "alive") {
				wrong = append(wrong, fmt.Errorf("user %d, %s: no command runs any more: %.300s", w.user, name, text))
			}
		}
		// The tree is to be removed.
		_ = w.as("chmod", "-R", "u+rwX", base).Run() // what is no directory of the user's is removed all the same
		_ = os.RemoveAll(base)
	}
	fmt.Printf("user %d: %d ways to stop the sandbox for all tried\n", w.user, len(stops))
	return errors.Join(errors.Join(wrong...), w.repositoryRoots(ctx, env), w.secretFiles(env))
}

// repositoryRoots serves repositories themselves, and parts of them.
func (w *world) repositoryRoots(ctx context.Context, env harness.Environment) error {
	base, err := w.dir("", "toolcrib-roots-")
	if err != nil {
		return err
	}
	if out, err := w.as("bash", "-c", "cd "+base+"\n"+plantedTree).CombinedOutput(); err != nil {
		return fmt.Errorf("make the tree: %w: %s", err, out)
	}
	var wrong []error
	tried := 0
	for _, at := range [][2]string{
		{"store/b.git", "config"}, {"store/b.git", "hooks/update"}, {"store/b.git", "hooks"}, {".git", "config"}, {".git", "hooks/pre-commit"}, {".git", "modules/lib/config"},
		{".git/hooks", "pre-commit"}, {"store/b.git/hooks", "update"}, {".git/modules", "lib/config"}, {".git/modules/lib", "config"}, {".git/modules/lib", "hooks/post-commit"},
		{".git/worktrees", "tree/commondir"}, {".git/worktrees/tree", "commondir"}, {".git/worktrees/tree", "gitdir"}, {"deep/r/.git", "hooks/x"}, {"store", "b.git/config"},
	} {
		place := filepath.Join(base, at[0], at[1])
		before, _ := os.ReadFile(place) // what cannot be read is not there
		s, told := &planter{world: w, env: env, root: filepath.Join(base, at[0])}, false
		for _, command := range []string{"echo PLANTED >> %[1]s", "rm -rf %[1]s; mkdir -p $(dirname %[1]s); echo PLANTED > %[1]s", "d=$(dirname %[1]s); mv $d $d.x; cp -a $d.x $d; echo PLANTED >> %[1]s"} {
			text, err := s.bash(fmt.Sprintf(command, at[1]))
			if err != nil {
				return err
			}
			told = told || strings.Contains(text, " meanwhile: "+strings.SplitN(at[1], "/", 2)[0])
		}
		if _, err := s.callTool("write_file", map[string]any{"path": at[1], "content": "PLANTED"}); err != nil {
			return err
		}
		if err := s.stop(); err != nil {
			return err
		}
		tried += 4
		if after, _ := os.ReadFile(place); string(after) != string(before) && !told {
			wrong = append(wrong, fmt.Errorf("user %d: %s was changed in the root %s", w.user, at[1], at[0]))
		}
	}
	fmt.Printf("user %d: %d changes in roots that are or lie in repositories tried, %d came through\n", w.user, tried, len(wrong))
	return errors.Join(append(wrong, ctx.Err())...)
}

// secretFiles has the configuration lie outside of home, with a secret in a file of its
// own, which is also exchanged while the sandbox lasts.
func (w *world) secretFiles(env harness.Environment) error {
	dir, err := w.dir(shelf(), "toolcrib-conf-")
	if err != nil {
		return err
	}
	root, err := w.dir("", "toolcrib-secret-")
	if err != nil {
		return err
	}
	write := func() error {
		out, err := w.as("sh", "-c", "cd "+dir+" && umask 077 && echo SESAME-open-the-door-of-the-crib > new && mv new token.txt && echo 'token: {file: token.txt}\nconfirm: client' > config.yaml").CombinedOutput()
		if err != nil {
			return fmt.Errorf("write a secret: %w: %s", err, out)
		}
		return nil
	}
	if err := write(); err != nil {
		return err
	}
	var wrong []error
	for _, level := range []string{"full", "landlock"} {
		c, err := harness.DialCommand(w.as(env.Binary, "serve", "--config", dir+"/config.yaml", "--sandbox", level, "--state-dir", w.state, root), nil)
		if err != nil {
			return err
		}
		s := &planter{world: w, env: env, root: root, c: c}
		if err := c.Initialize(); err != nil {
			return err
		}
		for range 2 {
			text, err := s.bash("cat " + dir + "/token.txt " + dir + "/config.yaml; grep -rs SESAME " + dir)
			if err != nil {
				return err
			}
			if strings.Contains(text, "open-the-door") || strings.Contains(text, "token:") {
				wrong = append(wrong, fmt.Errorf("user %d at %s: a command reads the secret of the configuration: %s", w.user, level, text))
			}
			if err := write(); err != nil {
				return err
			}
		}
		if err := s.stop(); err != nil {
			return err
		}
	}
	return errors.Join(wrong...)
}
