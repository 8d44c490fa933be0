package terminals

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// terminalCase is something that users of terminal tools meet. check says what is wrong
// about it; name is for the processes that it makes.
type terminalCase struct {
	name  string
	check func(ctx context.Context, t terminalTools, name string) error
}

// cases are those of one command; jobCases those of commands that go on.
func (p *terminalHost) cases() []terminalCase {
	return append([]terminalCase{
		{"exit codes are told", exitCodes},
		{"stdout and stderr, in the order in which they were written", trueOrder},
		{"quotes, newlines, here-documents", ran(quoting, 0, "a 'b' \"c\" \\n $HOME `x`", "two  spaces", "it's\n  $5 \\ and \"$(no)\"", "3 words here")},
		{"Unicode, also a character that comes in two writes", ran(`printf '\xc3'; sleep 0.3; printf '\xa9t\xc3\xa9 日本語 👩‍💻\n'`, 0, "été 日本語 👩‍💻")},
		{"bytes that are not UTF-8, and NUL", binary},
		{"colours are cleaned away", colours},
		{"a progress bar is shown as it ends", progressBar},
		{"a line of 2 MB", bounded(`head -c 2000000 /dev/zero | tr '\0' x; echo; echo the end`, "the end")},
		{"of a long output the beginning and the end", bounded(`seq -f 'line %.0f' 50000`, "line 1\n", "line 50000")},
		{"a command that is not found", ran("frobnicate-xyz --help", 127, "frobnicate-xyz", "not found")},
		{"a directory that is not there", missingDirectory},
		{"a program that a signal ends", signalled},
		{"a child that holds the output open", heldPipe},
		{"a timeout, with all that was started", timedOut},
		{"a call that is cancelled leaves nothing", cancelled},
		{"eight commands at once", eightAtOnce},
		{"files outside the root are not changed, which is told", p.outsideRoot},
		{"secrets of the server's environment are not seen", p.secrets},
	}, p.jobCases()...)
}

// quoting is a script that is wrong after any loss or change of quotes and newlines.
const quoting = `printf '%s\n' 'a '"'b'"' "c" \n $HOME ` + "`x`" + `'
x="two  spaces"; echo "$x"
cat <<'END'
it's
  $5 \ and "$(no)"
END
n=$(wc -w <<EOF
three words here
EOF
)
echo $n "words" \
  here`

// ran makes a check of what a command comes to.
func ran(command string, code int, wants ...string) func(context.Context, terminalTools, string) error {
	return func(_ context.Context, t terminalTools, _ string) error {
		s, err := t.run(command)
		if err != nil {
			return err
		}
		return s.is(code, wants...)
	}
}

// is checks the exit code, and what is in the output.
func (s shown) is(code int, wants ...string) error {
	for _, w := range wants {
		if !strings.Contains(s.output, w) {
			return fmt.Errorf("%q is not in the output %.60q", w, s.output)
		}
	}
	switch s.code {
	case code:
		return nil
	case -1:
		return errors.New("no exit code is told")
	}
	return fmt.Errorf("exit code %d, want %d", s.code, code)
}

func exitCodes(_ context.Context, t terminalTools, _ string) error {
	for command, code := range map[string]int{"exit 3": 3, "true": 0, "echo out; false | (exit 42)": 42} {
		s, err := t.run(command)
		if err == nil {
			err = s.is(code)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
	}
	return nil
}

func missingDirectory(_ context.Context, t terminalTools, _ string) error {
	s, err := t.runIn("missing", "echo it ran")
	if err != nil {
		return err
	}
	switch {
	case strings.Contains(s.output, "it ran"):
		return errors.New("the command ran all the same")
	case !strings.Contains(s.text, "missing") || !s.tells("no such", "not found", "not exist", "not there"):
		return fmt.Errorf("it is not told: %q", s.ending())
	}
	return nil
}

// tells reports whether one of some texts is in the answer, in any case.
func (s shown) tells(texts ...string) bool {
	lower := strings.ToLower(s.text)
	for _, t := range texts {
		if strings.Contains(lower, t) {
			return true
		}
	}
	return false
}

// ending is the end of the answer, for a message.
func (s shown) ending() string {
	text := []rune(strings.TrimSpace(s.text))
	return string(text[max(0, len(text)-100):])
}

func signalled(_ context.Context, t terminalTools, _ string) error {
	s, err := t.run("echo before; kill -SEGV $$")
	if err != nil {
		return err
	}
	if !s.tells("sigsegv", "signal 11", "segmentation fault") && s.code != 139 {
		return fmt.Errorf("it is not told: %q", s.ending())
	}
	if !strings.Contains(s.output, "before") {
		return fmt.Errorf("the output is %.100q", s.output)
	}
	return nil
}

func heldPipe(_ context.Context, t terminalTools, name string) error {
	begin := time.Now()
	s, err := t.run(sleeper(name) + " & echo started")
	if err != nil {
		return err
	}
	if took := time.Since(begin); took > 5*time.Second {
		return fmt.Errorf("the answer took %.1f s", took.Seconds())
	}
	return s.is(0, "started")
}

func timedOut(_ context.Context, t terminalTools, name string) error {
	begin := time.Now()
	s, err := t.limited(fmt.Sprintf("echo before; %s & %s | cat; wait", sleeper(name), sleeper(name)), time.Second)
	if err != nil {
		return err
	}
	switch took := time.Since(begin); {
	case took > 10*time.Second:
		return fmt.Errorf("the answer took %.1f s", took.Seconds())
	case !strings.Contains(s.output, "before"):
		return fmt.Errorf("what it had printed is lost: %q", s.ending())
	case !s.tells("timeout", "timed out", "terminat", "sigterm", "sigkill", "sigint", "killed"):
		return fmt.Errorf("it is not told: %q", s.ending())
	}
	return gone(name, 2*time.Second)
}

func cancelled(_ context.Context, t terminalTools, name string) error {
	u := t.connection()
	tool, args := t.request(sleeper(name) + " & sleep 300")
	id := int(u.Last.Add(1))
	go func() {
		_, _ = u.Call(id, "tools/call", map[string]any{"name": tool, "arguments": args}) // a cancelled call has no answer
	}()
	if err := up(name, 1); err != nil {
		return err
	}
	if err := u.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)); err != nil {
		return err
	}
	return gone(name, 2*time.Second)
}

func eightAtOnce(_ context.Context, t terminalTools, _ string) error {
	type span struct {
		from, to float64
		err      error
	}
	spans := make(chan span, 8)
	for i := range cap(spans) {
		go func() {
			var at span
			s, err := t.run(fmt.Sprintf("a=$EPOCHREALTIME; sleep 1; echo mine is %d from $a to $EPOCHREALTIME", i))
			if err == nil {
				err = s.is(0)
			}
			if n, _ := fmt.Sscanf(strings.TrimSpace(s.output), fmt.Sprintf("mine is %d from %%f to %%f", i), &at.from, &at.to); err == nil && n != 2 {
				err = fmt.Errorf("%d has the output %.100q", i, s.output)
			}
			at.err = err
			spans <- at
		}()
	}
	last, first, failed := 0.0, 1e18, error(nil)
	for range cap(spans) {
		at := <-spans
		last, first, failed = max(last, at.from), min(first, at.to), errors.Join(failed, at.err)
	}
	if failed == nil && last > first {
		return fmt.Errorf("one began %.1f s after another had ended", last-first)
	}
	return failed
}

func (p *terminalHost) outsideRoot(_ context.Context, t terminalTools, _ string) error {
	s, err := t.run(fmt.Sprintf("rm -rf %s/tree; echo changed > %s/keep", p.outside, p.outside))
	if err != nil {
		return err
	}
	if err := p.outsideKept(); err != nil {
		return err
	}
	if !s.tells("no such", "denied", "read-only", "not permitted", "not allowed", "refused", "outside") {
		return fmt.Errorf("it is not told: %q", s.ending())
	}
	return nil
}

func (p *terminalHost) secrets(_ context.Context, t terminalTools, _ string) error {
	s, err := t.run("env; cat /proc/$PPID/environ | tr '\\0' '\\n'; echo looked")
	if err != nil {
		return err
	}
	if strings.Contains(s.text, p.secret) {
		return errors.New("a program sees the secret")
	}
	if !strings.Contains(s.output, "looked") || !strings.Contains(s.output, "PATH=") {
		return fmt.Errorf("the environment was not shown: %q", s.ending())
	}
	return nil
}
