package terminals

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// jobCases are those of commands that go on while the user does something else.
func (p *terminalHost) jobCases() []terminalCase {
	return []terminalCase{
		{"a job is read while it runs, and after its end", readLater},
		{"what comes after an answer is in the next, once", onceEach},
		{"a job's output from a line in its middle", fromTheMiddle},
		{"a stopped job ends with what left its session", stopsDaemons},
		{"Ctrl-C lets a program clean up, which is seen", interrupted},
		{"python's prompt", python},
		{"a password is asked for, taken and not shown", password},
		{"lines typed to a program that reads them", typed},
		{"900 kB of input arrive whole", bigInput},
		{"a shell keeps directory, variables and functions", keptShell},
		{"100 MB of output", p.flood},
		{"after a restart the list says what still runs", restarted},
	}
}

func readLater(_ context.Context, t terminalTools, _ string) error {
	s, err := t.begin(`for i in 1 2 3 4; do echo "tick $i"; sleep 0.6; done`, noInput)
	if err != nil {
		return err
	}
	running, err := t.more(s.job)
	if err != nil {
		return err
	}
	if early := s.output + running.output; !strings.Contains(early, "tick 1") || strings.Contains(early, "tick 4") {
		return fmt.Errorf("while it runs: %.200q", early)
	}
	for range 2 { // after its end it can be read again
		ended, err := t.end(s.job)
		if err != nil {
			return err
		}
		if err := ended.is(0, "tick 1\n", "tick 2\n", "tick 3\n", "tick 4"); err != nil {
			return err
		}
	}
	return nil
}

func onceEach(_ context.Context, t terminalTools, _ string) error {
	s, err := t.begin("echo first; sleep 1.5; echo second; sleep 1.5; echo third", noInput)
	if err != nil {
		return err
	}
	var answers []string
	for range 6 {
		next, err := t.more(s.job)
		if err != nil {
			return err
		}
		answers = append(answers, next.output)
		if strings.Contains(next.output, "third") {
			break
		}
	}
	read := strings.Join(answers, "\n")
	if strings.Count(read, "second") != 1 || strings.Count(read, "third") != 1 || strings.Count(read, "first") > 1 {
		return fmt.Errorf("the further answers have %.200q", read)
	}
	if !strings.Contains(s.output+read, "first") {
		return errors.New("the first line is lost")
	}
	return nil
}

func fromTheMiddle(_ context.Context, t terminalTools, _ string) error {
	s, err := t.begin("seq -f 'line %.0f' 5000; sleep 1", noInput)
	if err != nil {
		return err
	}
	if _, err := t.end(s.job); err != nil {
		return err
	}
	page, err := t.from(s.job, 3000)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(page.output, "line 3000\nline 3001\nline 3002\n") {
		return fmt.Errorf("it begins with %.60q", page.output)
	}
	return nil
}

func stopsDaemons(_ context.Context, t terminalTools, name string) error {
	s, err := t.begin(fmt.Sprintf(`setsid bash -c "exec -a %s sleep 300" & echo up; sleep 300`, name), noInput)
	if err != nil {
		return err
	}
	if err := up(name, 1); err != nil {
		return err
	}
	if err := t.stop(s.job); err != nil {
		return err
	}
	return gone(name, 2*time.Second)
}

func interrupted(_ context.Context, t terminalTools, _ string) error {
	s, err := t.begin(`trap 'echo cleaned up; exit 5' INT; echo ready; while :; do sleep 0.1; done`, noInput)
	if err != nil {
		return err
	}
	time.Sleep(500 * time.Millisecond) // it has set its trap
	if err := t.interrupt(s.job); err != nil {
		return err
	}
	ended, err := t.end(s.job)
	if err != nil {
		return err
	}
	return ended.is(5, "ready", "cleaned up")
}

func python(_ context.Context, t terminalTools, _ string) error {
	s, err := t.begin("python3 -i -q", onTerminal)
	if err != nil {
		return err
	}
	for _, line := range []string{"x = 6 * 7", "import sys"} {
		if _, err := t.enter(s.job, line); err != nil {
			return err
		}
	}
	answer, err := t.enter(s.job, "print('answer', x, sep=': ')")
	if err != nil {
		return err
	}
	if !strings.Contains(answer.output, "answer: 42") {
		return fmt.Errorf("it says %.200q", answer.text)
	}
	if _, err := t.enter(s.job, "sys.exit(3)"); err != nil {
		return err
	}
	ended, err := t.end(s.job)
	if err != nil {
		return err
	}
	return ended.is(3)
}

func password(_ context.Context, t terminalTools, _ string) error {
	begin := time.Now()
	s, err := t.begin(`python3 -c 'import getpass; print("it has", len(getpass.getpass("Password: ")), "characters")'; sleep 1`, onTerminal)
	if err != nil {
		return err
	}
	if !strings.Contains(s.output, "Password:") {
		late, err := t.more(s.job)
		if err != nil {
			return err
		}
		s = s.and(late)
	}
	if took := time.Since(begin); !strings.Contains(s.output, "Password:") || took > 8*time.Second {
		return fmt.Errorf("after %.1f s there is %.200q", took.Seconds(), s.text)
	}
	answer, err := t.enter(s.job, "open sesame")
	if err != nil {
		return err
	}
	ended, err := t.end(s.job)
	if err != nil {
		return err
	}
	switch all := answer.and(ended); {
	case strings.Contains(all.output, "sesame"):
		return errors.New("it is shown")
	case !strings.Contains(all.output, "it has 11 characters"):
		return fmt.Errorf("it did not arrive: %q", all.ending())
	}
	return nil
}

func typed(_ context.Context, t terminalTools, _ string) error {
	s, err := t.begin(`echo ready; while IFS= read -r l; do echo "<${#l}:$l>"; done`, byPipe)
	if err != nil {
		return err
	}
	for _, line := range []string{"one two", `a "b" \c 'd' $e`, "  日本語"} {
		answer, err := t.enter(s.job, line)
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("<%d:%s>", len([]rune(line)), line); !strings.Contains(answer.output, want) {
			return fmt.Errorf("to %q it says %.200q", line, answer.output)
		}
	}
	return t.stop(s.job)
}

func bigInput(_ context.Context, t terminalTools, _ string) error {
	const parts, size = 10, 90_000
	s, err := t.begin(fmt.Sprintf("echo ready; head -c %d | sha256sum; sleep 1", parts*size), byPipe)
	if err != nil {
		return err
	}
	sum := sha256.New()
	for i := range parts {
		lines := strings.Repeat(fmt.Sprintf("%089d\n", i), size/90)
		sum.Write([]byte(lines))
		if err := t.feed(s.job, lines); err != nil {
			return err
		}
	}
	ended, err := t.end(s.job)
	if err != nil {
		return err
	}
	return ended.is(0, fmt.Sprintf("%x", sum.Sum(nil)))
}

func keptShell(_ context.Context, t terminalTools, _ string) error {
	for _, c := range []struct{ command, want string }{
		{"mkdir -p below && cd below && v=kept && f() { echo \"f has $1\"; }", ""},
		{"pwd; echo \"v is $v\"", "/below\nv is kept"},
		{"cd ..; f it", "f has it"},
	} {
		s, err := t.shell(c.command)
		if err != nil {
			return err
		}
		if !strings.Contains(s.output, c.want) {
			return fmt.Errorf("%s: %.200q", c.command, s.text)
		}
	}
	return nil
}

func restarted(ctx context.Context, t terminalTools, name string) error {
	if _, err := t.begin(sleeper(name), noInput); err != nil {
		return err
	}
	if err := up(name, 1); err != nil {
		return err
	}
	if n, err := t.jobs(); err != nil || n == 0 {
		return errors.Join(err, fmt.Errorf("%d jobs are listed before", n))
	}
	_ = t.connection().End() // what matters is what it leaves
	if err := t.open(ctx); err != nil {
		return err
	}
	time.Sleep(time.Second)
	n, err := t.jobs()
	if err != nil {
		return err
	}
	if alive := len(harness.ProcessesNamed(name)); alive != n {
		return fmt.Errorf("%d jobs are listed and %d run", n, alive)
	}
	return nil
}
