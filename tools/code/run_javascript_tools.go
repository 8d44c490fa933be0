package code

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/code/internal/javascript"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/inner"
	"toolcrib/tools/internal/text/textfile"
)

const (
	scriptCalls = 50 // that one script may make
	scriptPar   = 8  // at once
	// scriptText is the most bytes of text of one result: it goes to the script, not to the model.
	scriptText = 1 << 20
)

// toolbox makes the calls of one script.
type toolbox struct {
	caller tools.Caller

	mu   sync.Mutex
	made []madeCall
}

// madeCall is a call that has ended.
type madeCall struct {
	Tool string `json:"tool"`
	Code string `json:"code"`
	MS   int64  `json:"ms"`
	Kept int    `json:"bytes"` // of the result, which the model does not see
	took time.Duration
}

// insideKey marks the context of the calls of a script.
type insideKey struct{}

// serve answers the requests of a script until it ends. Other lines are what its process says
// when it crashes, and go to output.
func (t *toolbox) serve(ctx context.Context, requests *os.File, replies, output io.Writer) error {
	lines := make(chan []byte)
	g, _ := tools.NewGroup(ctx, 1)
	g.Go(func() error {
		read(requests, lines)
		return nil
	})
	calls, inside := tools.NewGroup(context.WithValue(ctx, insideKey{}, true), scriptPar)
	var writing sync.Mutex
	begun := 0
	for line := range lines {
		var request javascript.Request
		if json.Unmarshal(line, &request) != nil || request.ID == 0 {
			_, _ = output.Write(line) // a capture, which never fails
			continue
		}
		begun++
		over := begun > scriptCalls
		calls.Go(func() error {
			reply, err := json.Marshal(t.answer(inside, request, over))
			if err != nil {
				return err
			}
			writing.Lock()
			defer writing.Unlock()
			_, _ = replies.Write(append(reply, '\n')) // a script that has ended takes none
			return nil
		})
	}
	return errors.Join(calls.Wait(), g.Wait())
}

// answer makes a call, unless it is over the number that a script may make, and says to the
// script what came of it.
func (t *toolbox) answer(ctx context.Context, request javascript.Request, over bool) javascript.Reply {
	reply := javascript.Reply{ID: request.ID}
	begin := time.Now()
	var kept int
	var err error
	if over {
		err = tools.Errorf(tools.TooLarge, "the script has made %d calls, which is the most", scriptCalls).
			WithHint("call tools that answer for many files at once, or work in several scripts")
	} else {
		kept, err = t.call(ctx, request, &reply)
	}
	done := madeCall{Tool: request.Name, Code: "ok", took: time.Since(begin), Kept: kept}
	done.MS = done.took.Milliseconds()
	if err != nil {
		e := tools.AsError(err)
		done.Code = string(e.Code)
		reply.Failed = &javascript.Failure{Code: string(e.Code), Message: e.Msg, Hint: e.Hint}
	}
	if !over {
		t.mu.Lock()
		t.made = append(t.made, done)
		t.mu.Unlock()
	}
	return reply
}

// call makes a call, and returns the size of its result.
func (t *toolbox) call(ctx context.Context, request javascript.Request, reply *javascript.Reply) (size int, err error) {
	report := tools.Progress(ctx)
	ctx = tools.WithProgress(ctx, func(e tools.ProgressEvent) {
		report(tools.ProgressEvent{Message: request.Name + ": " + e.Message})
	})
	res, err := t.caller.Call(ctx, request.Name, request.Args)
	if asks, ok := errors.AsType[*tools.PendingAsk](err); ok {
		return 0, tools.Errorf(tools.Denied, "%s: it asks the user (%s), which it cannot inside a script", request.Name, asks.Forms[0].Message).
			WithHint("call %s by itself", request.Name)
	}
	if err != nil {
		return 0, err
	}
	if res.Fit != nil { // it may have been cut for a model, or have notes for one
		if whole, err := res.Fit(scriptText); err == nil {
			res = whole
		}
	}
	if next, ok := res.Meta[tools.MetaNext]; ok {
		if reply.Next, err = json.Marshal(next); err != nil {
			return 0, err
		}
	}
	if res.Structured != nil {
		reply.Value = res.Structured
		return len(res.Structured), nil
	}
	text := inner.Text(res)
	reply.Value, err = json.Marshal(text)
	return len(text), err
}

// summary says in a line which calls were made, "" if none was.
func (t *toolbox) summary() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.made) == 0 {
		return ""
	}
	type sum struct {
		calls, kept int
		took        time.Duration
		failed      []string
	}
	sums, names, kept := map[string]*sum{}, []string(nil), 0
	for _, c := range t.made {
		s := sums[c.Tool]
		if s == nil {
			s = &sum{}
			sums[c.Tool], names = s, append(names, c.Tool)
		}
		s.calls, s.kept, s.took, kept = s.calls+1, s.kept+c.Kept, s.took+c.took, kept+c.Kept
		if c.Code != "ok" && !slices.Contains(s.failed, c.Code) {
			s.failed = append(s.failed, c.Code)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(sums[b].calls, sums[a].calls) })
	for i, name := range names {
		s := sums[name]
		names[i] = fmt.Sprintf("%s %d in %s, %s", name, s.calls, durations.Rough(s.took), textfile.Size(int64(s.kept)))
		if s.failed != nil {
			names[i] += " (" + strings.Join(s.failed, ", ") + ")"
		}
	}
	return fmt.Sprintf("%s of tools, %s kept out of this result: %s", textfile.Count(len(t.made), "call"), textfile.Size(int64(kept)), strings.Join(names, "; "))
}
