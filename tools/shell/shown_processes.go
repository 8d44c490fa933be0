package shell

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/shell/internal/processes"
	"toolcrib/workspace/redact"
)

// shownCommand is the most bytes of a command line that are shown.
const shownCommand = 160

// shownProcesses returns the processes with command lines without secrets: a result shows
// none, and a filter finds none.
func shownProcesses(ctx context.Context) ([]processes.Process, error) {
	all, err := processes.List(ctx)
	looks := redact.New(nil)
	for i := range all {
		all[i].Command = looks.String(all[i].Command)
	}
	return all, err
}

func unlisted(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return tools.Errorf(tools.Unavailable, "the processes of this machine cannot be read: %v", err)
}

// shortCommand returns a command line for one row.
func shortCommand(p processes.Process) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(p.Command, "?")), " ")
	if len(text) > shownCommand {
		cut := shownCommand
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	if p.State == "Z" {
		text += " (has ended)"
	}
	return text
}
