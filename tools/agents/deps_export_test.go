package agents

import (
	"context"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
)

// Examine is what doctor asks, Command what "toolcrib run" does, Load what is at work.
var (
	Examine = Deps.examine
	Command = Deps.command
	Load    = Deps.load
)

// Done is what a receipt says of what records have done.
func Done(records []loop.Record) string { return receiptOf(records).done() }

// GivenUp is what happens when the process of a run in the background has died too often.
func GivenUp(ctx context.Context, d Deps, run string) error {
	k, err := d.desk.keeper(tools.Session(ctx))
	if err != nil {
		return err
	}
	return k.givenUp(ctx, legID(run, 1))
}
