package tools

import "context"

// Work goes on after the call that began it and is no program: the run of an agent. The tools for
// jobs list, follow and stop it by its handle.
type Work struct {
	Handle string
	What   string // it does, in a line
	State  string // "running", or how it has ended
	Over   bool
	Steps  int    // so far
	Input  string // what to call in the place of typing into it
}

// Works is the work of a category. Its methods know that of the principal of the call; for
// another handle the error is a not_found [Error].
type Works interface {
	// Has reports whether there is work with a handle.
	Has(ctx context.Context, handle string) (bool, error)
	// Works lists the newest first, with those that are over only if over is set. older is how
	// many more there are.
	Works(ctx context.Context, over bool) (list []Work, older int, err error)
	// Follow waits until there are more than so many steps or the work is over, and no longer
	// than ctx lasts, and returns the steps from that number on, each as a text that ends its line.
	Follow(ctx context.Context, handle string, from int) (Work, []string, error)
	// Stop ends the work.
	Stop(ctx context.Context, handle string) (Work, error)
}
