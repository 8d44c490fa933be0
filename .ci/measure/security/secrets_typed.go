package security

import (
	"fmt"
	"regexp"
	"time"

	"toolcrib/.ci/measure/harness"
)

// prompts are programs that wait for a secret, and what they say before.
var prompts = [...]struct {
	name, command, says string
	pipe                bool
	keys                bool // it is typed key by key
	through             bool // call_tool types
}{
	{name: "read -s", command: "read -rsp 'go: ' x; echo; sleep 9", says: "go:"},
	{name: "read -s, by keys", command: "read -rsp 'go: ' x; echo; sleep 9", says: "go:", keys: true},
	{name: "read -s, by call_tool", command: "read -rsp 'go: ' x; echo; sleep 9", says: "go:", through: true},
	{name: "read -s -n", command: "read -rs -n 14 -p 'go: ' x; echo; sleep 9", says: "go:"},
	{name: "stty -echo", command: "stty -echo; echo go; read -r x; sleep 9", says: "go"},
	{name: "raw terminal", command: "stty raw -echo; printf go; head -c 9 >/dev/null; sleep 9", says: "go"},
	{name: "two prompts", command: "read -rsp 'one: ' x; read -rsp 'go: ' x; sleep 9", says: "one:"},
	{name: "a prompt with echo", command: "read -rp 'Password: ' x; sleep 9", says: "Password:"},
	{name: "a prompt on a pipe", command: "printf 'Enter passphrase: '; read -r x; sleep 9", says: "passphrase:", pipe: true},
	{name: "at the prompt of a shell", command: "PS1='$ ' exec bash --norc --noprofile -i", says: "$"},
}

var handle = regexp.MustCompile(`job ([a-z0-9-]+)`)

// typeSecrets types one secret for each prompt, and returns how many calls that were.
func typeSecrets(u *harness.ToolUser, secrets []planted) (int, error) {
	calls := 0
	for i, p := range prompts {
		a, err := u.Use("bash", map[string]any{"command": p.command, "terminal": !p.pipe, "input": p.pipe})
		if err != nil || a.Failed {
			return calls, fmt.Errorf("%s: %s, %w", p.name, a.Text, err)
		}
		found := handle.FindStringSubmatch(a.Text)
		if found == nil {
			return calls, fmt.Errorf("%s is no job: %s", p.name, a.Text)
		}
		if _, err := u.Use("job_output", map[string]any{"job": found[1], "until": p.says, "wait": "20s"}); err != nil {
			return calls, err
		}
		time.Sleep(300 * time.Millisecond) // a program may print its prompt first
		args := map[string]any{"job": found[1], "text": secrets[i].value + "\n", "wait": "100ms"}
		switch {
		case p.keys:
			keys := make([]string, 0, len(secrets[i].value)+1)
			for _, c := range secrets[i].value {
				keys = append(keys, string(c))
			}
			args["text"], args["keys"] = "", append(keys, "enter")
		case i == len(prompts)-1:
			args["text"] = "mysql -p" + secrets[i].value + "\n"
		}
		tool := "job_input"
		if p.through {
			tool, args = "call_tool", map[string]any{"name": tool, "arguments": args}
		}
		if a, err = u.Use(tool, args); err != nil || a.Failed {
			return calls, fmt.Errorf("%s: %s, %w", p.name, a.Text, err)
		}
		if _, err := u.Use("job_stop", map[string]any{"job": found[1]}); err != nil {
			return calls, err
		}
		calls += 4
	}
	return calls, nil
}
