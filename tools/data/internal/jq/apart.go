package jq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"toolcrib/tools/internal/jsondoc"
)

// Argument makes this program read a question from its standard input and answer it.
const Argument = "run-jq"

// grace is what a process has beside the time of its filter: to start, and to read the document.
const grace = 20 * time.Second

type question struct {
	Filter, Document string
	Style            jsondoc.Style
}

type answer struct {
	Result
	Err *Error
}

// Apart is [Run] in a process of its own, which ends when a limit is reached whatever the filter
// does. The program must call [Main] for [Argument].
func Apart(ctx context.Context, filter string, doc *jsondoc.Node, style jsondoc.Style) (Result, error) {
	self, err := os.Executable()
	if err != nil {
		return Result{}, err
	}
	asked, err := json.Marshal(question{Filter: filter, Document: doc.Format(jsondoc.Style{}), Style: style})
	if err != nil {
		return Result{}, err
	}
	within, cancel := context.WithTimeoutCause(ctx, Time+grace, errTime)
	defer cancel()
	var out, say strings.Builder
	c := exec.CommandContext(within, self, Argument)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(string(asked)), &out, &say
	c.Env = []string{}
	c.WaitDelay = time.Second
	var a answer
	switch err := c.Run(); {
	case within.Err() != nil:
		return Result{}, context.Cause(within)
	case err != nil:
		return Result{}, fmt.Errorf("the process of the filter: %w: %.1000s", err, say.String())
	}
	if err := json.Unmarshal([]byte(out.String()), &a); err != nil {
		return Result{}, fmt.Errorf("the process of the filter: %w", err)
	}
	if a.Err != nil {
		return Result{}, a.Err
	}
	return a.Result, nil
}

// Main answers the question of [Apart], and ends the process if that reaches a limit.
func Main(in io.Reader, out, say io.Writer) int {
	var q question
	if err := json.NewDecoder(in).Decode(&q); err != nil {
		fmt.Fprintln(say, err)
		return 1
	}
	doc, err := jsondoc.Parse(q.Document)
	if err != nil {
		fmt.Fprintln(say, err)
		return 1
	}
	var once sync.Once
	reply := func(r Result, err error) (code int) {
		once.Do(func() {
			a := answer{Result: r}
			if err != nil {
				a.Err, _ = errors.AsType[*Error](err) // there is no context that could end
			}
			if json.NewEncoder(out).Encode(a) != nil {
				code = 1
			}
		})
		return code
	}
	return reply(run(context.Background(), q.Filter, doc.Root, q.Style, func(reached error) {
		os.Exit(reply(Result{}, reached))
	}))
}
