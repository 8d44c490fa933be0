package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// unkept is a line of the text on what the sandbox does not keep at level full: a command
// after which the place holds UNKEPT, or whose output has it, and what the result says.
type unkept struct {
	line    string
	setup   string // outside, before the first program
	between string // outside, after the first program
	during  string // outside, while the command runs
	command string
	place   string      // "" = the output
	said    string      // of the result; "" = nothing but the output
	refused bool        // the place stays as it was: a limit of the line
	moves   [][2]string // by move_path, after the command
	ends    bool        // it runs in the background until the server ends
	big     bool        // only at full size
}

func unkepts(w *world) []unkept {
	const commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m "
	return []unkept{
		{line: "what the user runs from the tree", setup: "echo all: > Makefile", command: "echo '\techo UNKEPT' >> Makefile", place: "Makefile"},
		{line: "what a rebase has to do", setup: "git init -q . && " + commit + "x && " + commit + "y", command: "mkdir .git/rebase-merge && echo 'exec echo UNKEPT' > .git/rebase-merge/git-rebase-todo", place: ".git/rebase-merge/git-rebase-todo"},
		{line: "a new repository", command: "git init -q n && git -C n config core.fsmonitor UNKEPT", place: "n/.git/config"},
		{line: "a new place below the top", command: "mkdir d && echo UNKEPT > d/.mcp.json", place: "d/.mcp.json"},
		{line: "a new place at the top", command: "echo UNKEPT > .mcp.json", place: ".mcp.json", said: "made meanwhile: .mcp.json"},
		{line: "a commondir in a known repository", setup: "git init -q d/r", command: "echo UNKEPT > d/r/.git/commondir", place: "d/r/.git/commondir", said: "made meanwhile: d/r/.git/commondir"},
		{line: "an ordinary directory", setup: "git init -q d/r", command: "mv d e && cp -r e d && echo UNKEPT >> d/r/.git/config", place: "d/r/.git/config", said: "replaced meanwhile: d/r/.git"},
		{line: "a job that outlasts the server", setup: "git init -q d/r", command: "mv d e && cp -r e d && echo UNKEPT >> d/r/.git/config; sleep 60", place: "d/r/.git/config", ends: true},
		{line: "a directory that move_path moves", setup: "git init -q d/r", command: "cp -r d e && echo UNKEPT >> e/r/.git/config", place: "d/r/.git/config", moves: [][2]string{{"d", "f"}, {"e", "d"}}},
		{line: "another name of a protected file", setup: "git init -q . && ln .git/config copy", command: "echo UNKEPT >> copy", place: ".git/config"},
		{line: "a place that came later", between: "git init -q late", command: "echo UNKEPT >> late/.git/config", place: "late/.git/config"},
		{line: "a place that is replaced meanwhile", setup: "echo {} > .mcp.json", during: "echo {} > new && mv new .mcp.json", command: "echo UNKEPT > .mcp.json", place: ".mcp.json", said: "replaced meanwhile: .mcp.json"},
		{line: "a link deep in a protected directory", setup: "mkdir -p .claude/a/b && touch far && ln -s ../../../far .claude/a/b/link", command: "echo UNKEPT > .claude/a/b/link", place: "far"},
		{line: "a link not so deep", setup: "mkdir -p .claude/a && touch near && ln -s ../../near .claude/a/link", command: "echo UNKEPT > near", place: "near", refused: true},
		{line: "more than 200,000 entries", setup: "for i in $(seq 210); do mkdir -p big/$i && (cd big/$i && touch $(seq 1000)); done; mkdir -p big/zz/r && git init -q big/zz/r/deep", command: "true", said: "has more than 200000 entries", big: true},
		{line: "more than 4,000 places", setup: `/usr/bin/python3 -c 'import os; [os.makedirs("m/%d/.claude" % i) for i in range(4100)]'`, command: "true", said: "not all are protected"},
		{line: "submodules too deep", setup: "git init -q . && mkdir -p .git/modules/$(printf 'd/%.0s' $(seq 17))", command: "true", said: "are deeper than 16 directories"},
		{line: "the rest of .git", setup: "git init -q . && " + commit + "x", command: "rm -rf .git 2>/dev/null; [ -e .git/HEAD ] || echo UNKEPT", said: "deleted or moved away meanwhile: .git"},
		{line: "what the user can read", command: "echo UNKEPT; cat " + w.visible + "/victim", said: "victim"},
		{line: "a socket that came after the start", command: "/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"" + w.visible + "/late\"); print(\"UNKEPT\")'", during: "socket"},
		{line: "memory of several processes", command: "for i in 1 2 3; do /usr/bin/python3 -c 'x = bytearray(48 << 20); import time; time.sleep(.3)' & all=\"$all $!\"; done; for p in $all; do wait $p || exit; done; echo UNKEPT"},
		{line: "what the policy denies and comes after the start", during: "echo UNKEPT > x.secret", command: "cat x*"},
		{line: "where a rule asks about a path", setup: "echo UNKEPT > asked", command: "cat ask*"},
	}
}

// unkeeping shows each line of the text on what the sandbox does not keep.
func (w *world) unkeeping(ctx context.Context, env harness.Environment) error {
	conf := w.hidden + "/unkept.yaml"
	const text = "confirm: ask\nprograms: {memory: 64}\npolicy: [{verdict: deny, path: ['**/*.secret']}, {verdict: ask, path: [asked]}]\n"
	if out, err := w.as("sh", "-c", "umask 077; cat > "+conf+" <<'END'\n"+text+"END").CombinedOutput(); err != nil {
		return fmt.Errorf("write a configuration: %w: %s", err, out)
	}
	var wrong []error
	shown := 0
	for _, u := range unkepts(w) {
		if u.big && !env.Full() || ctx.Err() != nil {
			continue
		}
		if err := w.unkeep(env, conf, u); err != nil {
			wrong = append(wrong, fmt.Errorf("user %d, %s: %w", w.user, u.line, err))
		}
		shown++
	}
	fmt.Printf("user %d: %d lines on what is not kept shown\n", w.user, shown)
	return errors.Join(append(wrong, ctx.Err())...)
}

func (w *world) unkeep(env harness.Environment, conf string, u unkept) (err error) {
	root, err := os.MkdirTemp("", "toolcrib-unkept-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if err := os.Chown(root, w.user, -1); err != nil {
		return err
	}
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
	}()
	outside := func(script string) error {
		if script == "" {
			return nil
		}
		if script == "socket" {
			l, err := net.Listen("unix", w.visible+"/late")
			if err != nil {
				return err
			}
			listeners = append(listeners, l)
			return os.Chmod(w.visible+"/late", 0o777)
		}
		out, err := w.as("bash", "-c", "cd "+root+" && { "+script+"; }").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", script, err, out)
		}
		return nil
	}
	if err := outside(u.setup); err != nil {
		return err
	}
	s := &planter{world: w, env: env, root: root, conf: conf}
	defer func() { err = errors.Join(err, s.stop()) }()
	first := ""
	if u.between != "" {
		if first, err = s.bash("true"); err != nil {
			return err
		}
		if err := outside(u.between); err != nil {
			return err
		}
	}
	command := u.command
	if u.during != "" {
		command = "touch ready; while [ ! -e go ]; do sleep .01; done; " + command
		go func() {
			for range 1000 {
				if _, err := os.Stat(root + "/ready"); err == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			_ = outside(u.during)                    // then the row fails
			_ = os.WriteFile(root+"/go", nil, 0o666) // likewise
		}()
	}
	text, err := s.callTool("bash", map[string]any{"command": command, "timeout": "20s", "background": u.ends})
	if err != nil {
		return err
	}
	for _, m := range u.moves {
		more, err := s.callTool("move_path", map[string]any{"source": m[0], "destination": m[1]})
		if err != nil {
			return err
		}
		text += more
	}
	if u.ends {
		for range 500 {
			if data, err := os.ReadFile(filepath.Join(root, u.place)); err == nil && strings.Contains(string(data), "UNKEPT") {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := s.stop(); err != nil {
			return err
		}
		if text, err = s.bash("true"); err != nil {
			return err
		}
	}
	found := strings.Contains(text, "UNKEPT") || u.place == "" && u.said != ""
	if u.place != "" {
		data, _ := os.ReadFile(filepath.Join(root, u.place)) // what is not there was kept
		found = strings.Contains(string(data), "UNKEPT")
	}
	if found == u.refused {
		return fmt.Errorf("changed or read: %t: %s%s", found, first, text)
	}
	if !strings.Contains(text, u.said) || u.said == "" && strings.Contains(text, " meanwhile: ") {
		return fmt.Errorf("the result does not say %q: %s", u.said, text)
	}
	return nil
}
