package run

import (
	"context"

	"strconv"

	"toolcrib/workspace"
)

// SetGeneration puts a generation in the place of the workspace's own.
func (r *Runner) SetGeneration(f func() (uint64, bool)) {
	r.results.generation = func(*workspace.Workspace, context.Context) (uint64, bool) { return f() }
}

// Kept returns how many results are kept.
func (r *Runner) Kept() int { return r.results.kept.Len() }

// Used returns how many used states are remembered; FillUsed makes it the most.
func (r *Runner) Used() int { return len(r.seal.used) }

func (r *Runner) FillUsed() {
	for i := range maxUsed - r.Used() {
		if err := r.seal.use("n"+strconv.Itoa(i), r.seal.now().Add(stateLife)); err != nil {
			panic(err)
		}
	}
}
