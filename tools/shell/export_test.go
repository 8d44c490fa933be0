package shell

import (
	"context"

	"toolcrib/tools/internal/programs/jobs"
)

// Prompt waits until a job waits for input.
func Prompt(ctx context.Context, j *jobs.Job) error {
	_, err := quiesce(ctx, j, 0, prompt, promptWithin)
	return err
}
