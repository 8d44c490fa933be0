package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/txtar"

	"toolcrib/.ci/measure/harness"
)

// Detached kills clients whose jobs are to outlast them, and looks for these from the
// next one; then it has the conversations of the tests by way of a relay.
func Detached(ctx context.Context, env harness.Environment) error {
	dir, err := os.MkdirTemp("", "detached")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &detachment{env: env, dir: dir, name: fmt.Sprintf("toolcrib-detached-%d", os.Getpid())}
	if err := os.Mkdir(filepath.Join(dir, "root"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "c.yaml"), []byte("jobs: {detach: true, keep: 1s}\n"), 0o600); err != nil {
		return err
	}
	defer func() {
		_ = d.command(context.WithoutCancel(ctx), "stop", "all").Run() // what there still is
	}()
	if err := d.rejoins(ctx, env.Of(1000, 10)); err != nil {
		return err
	}
	return d.conversations(ctx)
}

type detachment struct {
	env       harness.Environment
	dir, name string
}

func (d *detachment) command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, d.env.Binary, append([]string{"detached", "--state-dir", filepath.Join(d.dir, "state")}, args...)...)
}

// serve is the command line of a client; without settings it is served without a relay.
func (d *detachment) serve(settings bool) []string {
	args := []string{"serve", "--confirm", "client", "--state-dir", filepath.Join(d.dir, "state")}
	if settings {
		args = append(args, "--config", filepath.Join(d.dir, "c.yaml"))
	}
	return append(args, filepath.Join(d.dir, "root"))
}

func (d *detachment) dial(ctx context.Context) (*harness.Client, error) {
	c, err := harness.Dial(ctx, nil, d.env.Binary, d.serve(true)...)
	if err != nil {
		return nil, err
	}
	return c, c.Initialize()
}

var startedJob = regexp.MustCompile(`running: job ([a-z0-9-]+)`)

// rejoins kills a client, and lets the next one find, read and stop its job.
func (d *detachment) rejoins(ctx context.Context, n int) error {
	var starts []time.Duration
	lost, left := 0, 0
	for i := range n {
		c, err := d.dial(ctx)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s-%d", d.name, i)
		answer, err := c.Call(10, "tools/call", map[string]any{"name": "bash", "arguments": map[string]any{
			"command":    fmt.Sprintf("(setsid bash -c 'exec -a %s sleep 1000' &); x=0; while :; do echo tick $((x++)); sleep 0.02; done", name),
			"background": true,
		}})
		if err != nil {
			return err
		}
		m := startedJob.FindSubmatch(answer.Result)
		if m == nil {
			return fmt.Errorf("no job: %s", answer.Result)
		}
		if err := c.Cmd.Process.Kill(); err != nil {
			return err
		}
		<-c.Done
		_ = c.Cmd.Wait() // it was killed

		began := time.Now()
		if c, err = d.dial(ctx); err != nil {
			return err
		}
		starts = append(starts, time.Since(began))
		output, err := c.Call(11, "tools/call", map[string]any{"name": "job_output", "arguments": map[string]any{"job": string(m[1]), "offset": 0}})
		if err != nil {
			return err
		}
		if !bytes.Contains(output.Result, []byte("running for")) || !bytes.Contains(output.Result, []byte("tick 0")) {
			lost++
		}
		if _, err := c.Call(12, "tools/call", map[string]any{"name": "job_stop", "arguments": map[string]any{"job": string(m[1]), "grace": "0s"}}); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
		left += len(harness.ProcessesNamed(name))
		if err := c.In.Close(); err != nil {
			return err
		}
		<-c.Done
		if err := c.Cmd.Wait(); err != nil {
			return err
		}
	}
	slices.Sort(starts)
	fmt.Printf("%d clients killed with SIGKILL: %d jobs lost, %d processes left 200 ms after job_stop; the next client served after %s (median)\n",
		n, lost, left, starts[len(starts)/2].Round(100*time.Microsecond))
	if lost+left > 0 {
		return errors.New("jobs were lost, or outlived job_stop")
	}
	return nil
}

// conversations has those of testdata/wire with a server and by way of a relay, and wants
// the same lines of both.
func (d *detachment) conversations(ctx context.Context) error {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no conversations: %w", err)
	}
	answers := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			return err
		}
		var lines [][]byte
		for _, f := range archive.Files {
			if f.Name != "client" {
				continue
			}
			for line := range bytes.Lines(f.Data) {
				if line[0] != '!' && !bytes.Contains(line, []byte("$")) { // what only the toys of the test know
					lines = append(lines, line)
				}
			}
		}
		var plain []string
		var failed error
		var waiting sync.WaitGroup
		waiting.Go(func() { plain, failed = d.converse(ctx, false, lines) })
		relayed, err := d.converse(ctx, true, lines)
		waiting.Wait()
		if err := errors.Join(failed, err); err != nil {
			return err
		}
		if !slices.Equal(plain, relayed) {
			return fmt.Errorf("%s: by way of a relay\n%s\ninstead of\n%s", file, strings.Join(relayed, "\n"), strings.Join(plain, "\n"))
		}
		answers += len(plain)
	}
	fmt.Printf("%d conversations of the protocol, %d lines of answers: the same by way of a relay\n", len(files), answers)
	return nil
}

// different is what differs from server to server.
var different = regexp.MustCompile(`; jobs and sessions outlast the client: job_list shows those of before|error [0-9A-Z]{8}`)

// converse returns what the server says, sorted, as answers overtake each other.
func (d *detachment) converse(ctx context.Context, relay bool, lines [][]byte) ([]string, error) {
	cmd := exec.CommandContext(ctx, d.env.Binary, d.serve(relay)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	answers := make(chan string)
	go func() {
		defer close(answers)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			answers <- scanner.Text()
		}
	}()
	var said []string
	for _, line := range lines {
		if _, err := in.Write(line); err != nil {
			return nil, err
		}
		patience := 30 * time.Millisecond
		if bytes.Contains(line, []byte(`"id"`)) {
			patience = time.Second // what is cancelled by the next line must have begun
		}
		said = append(said, until(answers, patience)...)
	}
	if err := in.Close(); err != nil {
		return nil, err
	}
	for line := range answers {
		said = append(said, line)
	}
	if err := cmd.Wait(); err != nil {
		return nil, err
	}
	for i, line := range said {
		said[i] = different.ReplaceAllString(strings.TrimSpace(line), "")
	}
	slices.Sort(said)
	return said, nil
}

// until returns what comes within patience, and up to 30 ms after the last of it.
func until(answers <-chan string, patience time.Duration) (came []string) {
	over := time.After(patience)
	for {
		select {
		case line, ok := <-answers:
			if !ok {
				return came
			}
			came, over = append(came, line), time.After(30*time.Millisecond)
		case <-over:
			return came
		}
	}
}
