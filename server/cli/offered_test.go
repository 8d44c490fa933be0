package cli_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"toolcrib/tools"
)

// A command of a category takes --json if it says so, wherever the flag stands.
func TestOffered(t *testing.T) {
	inProject(t)
	say := func(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
		_, err := fmt.Fprint(out, tools.Session(ctx).Principal, args)
		return err
	}
	categories := append(offering(), tools.Category{ID: "more", Title: "More", Commands: []tools.UserCommand{
		{Name: "plain", Run: say}, {Name: "either", JSON: true, Run: say},
	}})
	for _, c := range []struct{ args, stdout, stderr string }{
		{"plain a b", "local[a b]", ""},
		{"plain a --json", "", "unknown flag --json"},
		{"either a b", "local[a b]", ""},
		{"either a --json b", "local[--json a b]", ""},
		{"help either", "--json", ""},
	} {
		stdout, stderr, _ := invocation{args: strings.Fields(c.args), categories: categories}.start(t)
		if !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || (stderr == "") != (c.stderr == "") {
			t.Errorf("%s: %s%s", c.args, stdout, stderr)
		}
	}
}
