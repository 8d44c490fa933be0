// Package terminals has the figures of interactive programs, on terminals and in the
// interpreter that keeps its state, and the comparison with another terminal server.
//
// Start at [Terminals]. It imports the harness, and no other figures.
package terminals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// driven is a program that is driven to its end through job_input.
type driven struct {
	name    string
	needs   string // program that must be there
	command string
	pipe    bool     // through its input, without a terminal
	files   []string // that it wants, each "name content"
	steps   []typing
	ends    string // first line of what it comes to
	leaves  string // "file regexp": what it must have written
}

// typing is one call of job_input, and what must be seen after it.
type typing struct {
	text  string
	keys  []string
	until string // of the call
	sees  string // regexp
}

// Terminals drives interactive programs through a terminal, or their input, to their end.
func Terminals(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("terminals")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	server, err := harness.UseTools(ctx, env.Writer(dir))
	if err != nil {
		return err
	}
	fmt.Println("| program | calls | took | ended |\n|---|---|---|---|")
	var failed error
	driven, missing := 0, []string{}
	for i, d := range programsDriven() {
		if _, err := exec.LookPath(d.needs); err != nil {
			missing = append(missing, d.needs)
			continue
		}
		place := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(place, 0o755); err != nil {
			return err
		}
		begin := time.Now()
		ended, err := d.drive(server, dir, fmt.Sprint(i))
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", d.name, err))
			ended = "no: " + strings.ReplaceAll(fmt.Sprintf("%.80s", err.Error()), "\n", " ")
		} else {
			driven++
		}
		fmt.Printf("| %s | %d | %.1f s | %s |\n", d.name, len(d.steps)+1, time.Since(begin).Seconds(), ended)
		if _, err := server.Use("job_stop", map[string]any{"job": "all", "grace": "0s"}); err != nil {
			return err
		}
	}
	fmt.Printf("\n%d programs driven to their end\n", driven)
	if len(missing) > 0 {
		fmt.Println("not installed:", strings.Join(missing, ", "))
		if env.Full() {
			failed = errors.Join(failed, fmt.Errorf("not installed: %s", strings.Join(missing, ", ")))
		}
	}
	if driven < 20 && env.Full() {
		failed = errors.Join(failed, fmt.Errorf("%d programs, want 20", driven))
	}
	return errors.Join(failed, server.Close())
}

func (d driven) drive(server *harness.ToolUser, dir, place string) (string, error) {
	for _, f := range d.files {
		name, content, _ := strings.Cut(f, " ")
		if err := os.WriteFile(filepath.Join(dir, place, name), []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	start := map[string]any{"command": d.command, "cwd": place, "terminal": !d.pipe, "input": d.pipe}
	text, err := server.Must("bash", start)
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`^running: job (\S+?)(;|\n)`).FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("it did not wait: %s", harness.Brief(text))
	}
	for _, s := range d.steps {
		args := map[string]any{"job": m[1], "wait": "20s"}
		if s.text != "" {
			args["text"] = s.text
		}
		if len(s.keys) > 0 {
			args["keys"] = s.keys
		}
		if s.until != "" {
			args["until"] = s.until
		}
		if text, err = server.Must("job_input", args); err != nil {
			return "", err
		}
		if s.sees != "" && !regexp.MustCompile(s.sees).MatchString(text) {
			return "", fmt.Errorf("after %q %q it shows\n%s\nwant %s", s.text, s.keys, harness.Brief(text), s.sees)
		}
	}
	if text, err = server.Must("job_output", map[string]any{"job": m[1], "wait": "10s"}); err != nil {
		return "", err
	}
	ends := d.ends
	if ends == "" {
		ends = `^exit 0 in`
	}
	status, _, _ := strings.Cut(text, ";")
	if !regexp.MustCompile(ends).MatchString(text) {
		return "", fmt.Errorf("it came to %s", harness.Brief(text))
	}
	if d.leaves != "" {
		name, pattern, _ := strings.Cut(d.leaves, " ")
		content, err := os.ReadFile(filepath.Join(dir, place, name))
		if err != nil {
			return "", err
		}
		if !regexp.MustCompile(pattern).Match(content) {
			return "", fmt.Errorf("%s has %q, want %s", name, content, pattern)
		}
	}
	return status, nil
}

func programsDriven() []driven {
	const repository = `git init -q -b main . && git config user.email a@example.com && git config user.name a && for i in 1 2 3; do echo $i > f$i; git add f$i; git commit -qm "commit $i"; done; `
	// A bash that reads a line may not notice that a child of it ends, until another one does.
	const killed = `kill %1; while [ -n "$(jobs -s)" ]; do sleep 0.1; done; x=5` + "\n"
	return []driven{
		{name: "bash, prompts, through its input", needs: "bash", pipe: true,
			command: `read -p 'name: ' n; echo "hello $n"; read -p 'sure? ' s; [ "$s" = yes ] && echo done > out`,
			steps:   []typing{{text: "Ada\n", sees: "hello Ada"}, {text: "yes\n"}}, leaves: "out done"},
		{name: "bash, a hidden password", needs: "bash", command: `read -s -p 'Password: ' p; echo; echo "${#p} characters"`,
			steps: []typing{{text: "secret!\n", until: "characters", sees: "7 characters"}}},
		{name: "bash -i, with job control", needs: "bash", command: "PS1='$ ' bash --noprofile --norc -i",
			steps: []typing{{text: "sleep 100\n"}, {keys: []string{"ctrl-z"}, until: "Stopped"}, {text: killed, until: "Terminated", sees: "Terminated"}, {text: "echo $((x*2))\n", sees: `(?m)^10$`}, {text: "exit 0\n"}}},
		{name: "cat, to the end of its input", needs: "bash", command: "cat > copy", steps: []typing{{text: "one\ntwo\n"}, {keys: []string{"eof"}}}, leaves: "copy ^one\ntwo\n$"},
		{name: "python3", needs: "python3", command: "python3 -q",
			steps: []typing{{text: "def f(x):\n    return x * 21\n\n"}, {text: "f(2)\n", until: "42", sees: "42"}, {text: "exit()\n"}}},
		{name: "python3 -i, through its input", needs: "python3", pipe: true, command: "python3 -iq",
			steps: []typing{{text: "print(6*7)\n", until: "42", sees: "42"}, {text: "import sys; sys.exit(0)\n"}}},
		{name: "python3 -m pdb", needs: "python3", command: "python3 -m pdb a.py", files: []string{"a.py x = 1\ny = x + 41\nprint(y)\n"},
			steps: []typing{{text: "b 3\n", sees: "Breakpoint 1"}, {text: "c\n", sees: "print"}, {text: "p y\n", sees: "42"}, {text: "q\n"}}, ends: `^exit [01] in`},
		{name: "python3 getpass", needs: "python3", command: `python3 -c 'import getpass; print(len(getpass.getpass()))'`,
			steps: []typing{{text: "12345\n", until: "5", sees: "5"}}},
		{name: "python3 curses, arrows and F keys", needs: "python3", command: "python3 c.py",
			files: []string{`c.py import curses
def main(s):
    keys = []
    while True:
        s.clear(); s.addstr(3, 5, "keys: " + " ".join(keys)); s.refresh()
        k = curses.keyname(s.getch()).decode()
        keys.append(k)
        if k == "KEY_F(2)":
            open("out", "w").write(" ".join(keys)); return
curses.wrapper(main)
`},
			steps: []typing{{keys: []string{"up", "down", "left", "f1"}, sees: `keys: KEY_UP KEY_DOWN KEY_LEFT KEY_F\(1\)`}, {keys: []string{"f2"}}}, leaves: `out KEY_F\(2\)`},
		{name: "node", needs: "node", command: "node", steps: []typing{{text: "const a = [1,2,3]\n"}, {text: "a.reduce((x, y) => x + y) * 7\n", until: "42", sees: "42"}, {text: ".exit\n"}}},
		{name: "npm init", needs: "npm", command: "npm init",
			steps: []typing{{text: "crib\n", until: "version:"}, {text: "\n", until: "description:"}, {text: "tools\n", until: "entry point:"}, {text: "\n", until: "test command:"}, {text: "\n", until: "git repository:"}, {text: "\n", until: "keywords:"}, {text: "\n", until: "author:"}, {text: "\n", until: "license:"}, {text: "\n", until: "type:"}, {text: "\n", until: "OK?"}, {text: "\n"}},
			ends:  `^exit 0 in`, leaves: `package.json "name": "crib"`},
		{name: "sqlite3", needs: "sqlite3", command: "sqlite3 a.db",
			steps: []typing{{text: "create table t(a, b);\n"}, {text: "insert into t values (1, 'x'), (41, 'y');\n"}, {text: "select sum(a) from t;\n", until: "42", sees: "42"}, {text: ".quit\n"}}},
		{name: "less", needs: "less", command: "seq 1 1000 | less",
			steps: []typing{{text: " ", sees: "(?m)^58$"}, {text: "/777\n", sees: "(?m)^777$"}, {keys: []string{"G"}, sees: "(?m)^1000$"}, {text: "g", sees: "(?m)^1$"}, {text: "q"}}},
		{name: "more", needs: "more", command: "more a.txt", files: []string{"a.txt " + strings.Repeat("line\n", 100)},
			steps: []typing{{text: " ", sees: "More"}, {text: "q"}}},
		{name: "man", needs: "man", command: "MANPAGER=less man ./a.1", files: []string{"a.1 .TH CRIB 1\n.SH NAME\ncrib \\- issues tools\n" + strings.Repeat(".PP\nA paragraph.\n", 60)},
			steps: []typing{{keys: []string{"pagedown"}, sees: "A paragraph"}, {text: "q"}}},
		{name: "vim", needs: "vim", command: "vim -u NONE -N a.txt", files: []string{"a.txt one\ntwo\nthree\n"},
			steps: []typing{{text: "jdd"}, {text: "Onew line", keys: []string{"esc"}, sees: "new line"}, {text: ":%s/three/3/\n", sees: "(?m)^3$"}, {text: ":wq\n"}}, leaves: "a.txt ^one\nnew line\n3\n$"},
		{name: "nano", needs: "nano", command: "nano a.txt", files: []string{"a.txt old\n"},
			steps: []typing{{text: "fresh ", sees: "fresh old"}, {keys: []string{"ctrl-o"}, sees: "File Name"}, {keys: []string{"enter"}}, {keys: []string{"ctrl-x"}}}, leaves: "a.txt ^fresh old"},
		{name: "ed", needs: "ed", command: "ed -p: a.txt", files: []string{"a.txt one\ntwo\n"},
			steps: []typing{{text: "2s/two/2/p\n", sees: "(?m)^2$"}, {text: "wq\n"}}, leaves: "a.txt ^one\n2\n$"},
		{name: "bc", needs: "bc", command: "bc -q", steps: []typing{{text: "scale=3; 22/7\n", until: "3.142", sees: `3\.142`}, {text: "quit\n"}}},
		{name: "top", needs: "top", command: "top -d 1", steps: []typing{{keys: []string{"M"}, sees: "PID"}, {text: "1", until: "/Cpu0/", sees: "Cpu0"}, {text: "q"}}},
		{name: "watch", needs: "watch", command: "watch -n 0.5 echo ticking", steps: []typing{{keys: []string{"ctrl-c"}}}, ends: `^(exit|ended by|killed by)`},
		{name: "git rebase -i", needs: "git", command: repository + "GIT_EDITOR='vim -u NONE -N' git rebase -i HEAD~2",
			steps: []typing{{text: ":2s/pick/reword/\n", sees: "reword"}, {text: ":wq\n", until: "Please enter", sees: "commit 3"}, {text: "ccthe third", keys: []string{"esc"}}, {text: ":wq\n", until: "Successfully rebased"}}},
		{name: "git add -p", needs: "git", command: repository + "echo more >> f1; echo more >> f2; GIT_PAGER=cat git add -p && git diff --cached --name-only",
			steps: []typing{{text: "y\n", until: "f2"}, {text: "n\n", until: "/^f1/", sees: "(?m)^f1"}}},
		{name: "ssh-keygen, with a passphrase", needs: "ssh-keygen", command: "ssh-keygen -t ed25519 -f key",
			steps: []typing{{text: "correct horse\n", until: "again"}, {text: "correct horse\n", until: "randomart"}}, leaves: "key.pub ^ssh-ed25519"},
		{name: "openssl req", needs: "openssl", command: "openssl req -new -newkey rsa:2048 -nodes -keyout k.pem -out r.pem",
			steps: []typing{{text: "DE\n", until: "State"}, {text: "Hesse\n", until: "Locality"}, {text: "\n", until: "Organization"}, {text: "Crib\n", until: "Unit"}, {text: "\n", until: "Common Name"}, {text: "crib.example\n", until: "Email"}, {text: "\n", until: "challenge"}, {text: "\n", until: "company"}, {text: "\n"}}, leaves: "r.pem BEGIN CERTIFICATE REQUEST"},
		{name: "whiptail, a menu", needs: "whiptail", command: "whiptail --menu Pick 12 40 3 a apple b pear c plum 2> out",
			steps: []typing{{keys: []string{"down", "down"}, sees: "plum"}, {keys: []string{"tab", "enter"}}}, leaves: "out ^c"},
		{name: "gdb", needs: "gdb", command: "gdb -q", steps: []typing{{text: "print 6*7\n", until: "42", sees: "= 42"}, {text: "quit\n"}}},
	}
}
