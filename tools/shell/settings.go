package shell

import (
	"fmt"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
)

// Settings are those of the category.
type Settings struct {
	Jobs Bounds `file:"jobs" help:"commands and what is kept of them: times, numbers, size of the output" live:"yes"`
}

// Bounds limits commands and their kept output. The zero value means the defaults.
type Bounds struct {
	Foreground time.Duration `json:"foreground,omitempty" jsonschema_description:"how long a call waits for a command before it becomes a job, 1s to 60s; clients give up after a minute (default 45s)"`
	Timeout    time.Duration `json:"timeout,omitempty" jsonschema_description:"when a command is ended that names no timeout and is not in the background, 1s to 24h (default 30m)"`
	Output     int           `json:"output,omitempty" jsonschema:"minimum=1,maximum=65536" jsonschema_description:"MB of the output of a job that are kept, the beginning and the end (default 64)"`
	Disk       int           `json:"disk,omitempty" jsonschema:"minimum=1,maximum=1048576" jsonschema_description:"MB that the output of all jobs may take; the oldest that has ended goes first (default 1024)"`
	Keep       time.Duration `json:"keep,omitempty" jsonschema_description:"how long the output of a job that has ended can be read, 1s to 168h (default 1h)"`
	Running    int           `json:"running,omitempty" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"jobs that a principal may have running (default 32)"`
	Sessions   int           `json:"sessions,omitempty" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"sessions of bash that a principal may have (default 8)"`
	Detach     bool          `json:"detach,omitempty" jsonschema_description:"whether jobs and sessions outlast the client: a server in the background serves it, to which the next client with the same settings comes back; toolcrib help detached says what counts (default false)" live:"no"`
	Idle       time.Duration `json:"idle,omitempty" jsonschema_description:"when a session ends that has nothing to do, 1s to 168h (default 30m)"`
}

// Check names a time that is out of range.
func (set *Settings) Check(tools.Host) []tools.SettingError {
	j := set.Jobs
	const day = 24 * time.Hour
	for _, t := range []struct {
		name     string
		set, max time.Duration
	}{
		{"foreground", j.Foreground, time.Minute}, {"timeout", j.Timeout, day}, {"keep", j.Keep, 7 * day}, {"idle", j.Idle, 7 * day},
	} {
		if t.set != 0 && (t.set < time.Second || t.set > t.max) {
			return []tools.SettingError{{Key: "jobs", Err: fmt.Errorf("jobs.%s: %s is not between 1s and %s", t.name, t.set, t.max)}}
		}
	}
	return nil
}

// Outlasts reports whether jobs outlast the client.
func (set *Settings) Outlasts() bool { return set.Jobs.Detach }

func (set *Settings) options(setup tools.Setup) jobs.Options {
	j := set.Jobs
	return jobs.Options{
		Foreground: j.Foreground, Timeout: j.Timeout, Keep: j.Keep, Idle: j.Idle,
		Output: int64(j.Output) << 20, Disk: int64(j.Disk) << 20, Running: j.Running, Shells: j.Sessions, Detached: setup.Outlasts,
	}
}
