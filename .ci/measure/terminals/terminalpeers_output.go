package terminals

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"toolcrib/.ci/measure/harness"
)

// answerBudget is the most bytes of one answer that clients take: 25,000 tokens.
const answerBudget = 100_000

func trueOrder(_ context.Context, t terminalTools, _ string) error {
	s, err := t.run(`for i in $(seq 50); do echo "out $i"; echo "err $i" >&2; done`)
	if err != nil {
		return err
	}
	got := strings.Fields(s.output)
	if len(got) != 200 {
		return fmt.Errorf("%d of 100 lines", len(got)/2)
	}
	for i := range 100 {
		line, want := got[2*i]+" "+got[2*i+1], fmt.Sprintf("%s %d", []string{"out", "err"}[i%2], i/2+1)
		if line != want {
			return fmt.Errorf("line %d is %q, want %q", i+1, line, want)
		}
	}
	return nil
}

func binary(_ context.Context, t terminalTools, _ string) error {
	s, err := t.run(`printf 'a\xff\xfe\x80b\n'; printf 'c\0d\n'; echo after`)
	if err != nil {
		return err
	}
	if strings.ContainsRune(s.text, 0) || !utf8.ValidString(s.text) {
		return errors.New("the answer has a NUL")
	}
	return s.is(0, "a", "b\n", "c", "d\n", "after")
}

func colours(_ context.Context, t terminalTools, _ string) error {
	s, err := t.run(`printf '\e[1;31mred\e[0m and \e[38;5;200mpink\e[0m\e[K\n\e]0;title\a\e[?25lplain\e[?25h\n'`)
	if err != nil {
		return err
	}
	if strings.ContainsRune(s.text, '\x1b') {
		return fmt.Errorf("there are escape sequences: %.40q", s.output)
	}
	return s.is(0, "red and pink\n", "plain")
}

func progressBar(_ context.Context, t terminalTools, _ string) error {
	s, err := t.run(`for i in $(seq 0 100); do printf '\r%3d%% of it' $i; done; printf '\rdone 100%%     \nready\n'`)
	if err != nil {
		return err
	}
	if strings.Contains(s.output, "50% of it") {
		return errors.New("every state of it is shown")
	}
	return s.is(0, "done 100%", "ready")
}

// bounded makes a check of a long output: what must be seen, in answers that are not too long.
func bounded(command string, wants ...string) func(context.Context, terminalTools, string) error {
	return func(_ context.Context, t terminalTools, _ string) error {
		s, err := t.run(command)
		if err != nil {
			return err
		}
		if s.longest > answerBudget {
			return fmt.Errorf("an answer of %d bytes", s.longest)
		}
		return s.is(0, wants...)
	}
}

func (p *terminalHost) flood(ctx context.Context, t terminalTools, name string) error {
	pid := t.connection().Cmd.Process.Pid
	before := harness.Resident(pid)
	command := fmt.Sprintf("yes %s | head -c %dM; echo; echo the end", strings.Repeat("0123456789", 9), p.env.Of(100, 8))
	why := bounded(command, "the end")(ctx, t, name)
	peak, err := harness.PeakResident(pid)
	if grown := peak - before; err == nil && grown > 200 {
		err = fmt.Errorf("the server grew by %.0f MB", grown)
	}
	return errors.Join(why, err)
}
