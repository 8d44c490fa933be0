package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/.ci/measure/harness"
)

// What the loop of run_agent may take.
const (
	begunWithin  = 2 * time.Millisecond
	roundWithin  = 3 * time.Millisecond
	roundsAtMost = 5 // MB, of a run of usual length
	endedWithin  = 100 * time.Millisecond
)

// stage is a server with a model of ours for each dialect, whose next answers a trial sets.
type stage struct {
	*harness.ToolUser
	env    harness.Environment
	dir    string
	models *fake
	runs   int
}

// Rounds times what run_agent itself takes, with a model that answers at once: until the first
// call of a turn begins, for a round, and until a run ends that is cancelled or stopped. Then it
// has runs that are cut short, given too much, deceived or not allowed to do something.
func Rounds(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("rounds")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	s := &stage{env: env, dir: dir, models: &fake{cases: map[string]*played{}}}
	server := httptest.NewServer(s.models)
	defer server.Close()
	models := object{}
	for _, d := range []dialect{chatDialect, messagesDialect} {
		s.models.cases["/"+d.name] = &played{dialect: d}
		models[d.name] = object{"url": server.URL + "/" + d.name, "dialect": d.name, "model": "m", "max_output": 256}
	}
	config := filepath.Join(base, "config.yaml")
	err = write(config, text(object{"agents": object{"models": models}}))
	for i := range 8 {
		err = errors.Join(err, write(filepath.Join(dir, fmt.Sprintf("k%d.txt", i)), strings.Repeat("a line of this file\n", 1000)))
	}
	if err != nil {
		return err
	}
	if s.ToolUser, err = harness.UseTools(ctx, env.Writer(dir, "--config", config)); err != nil {
		return err
	}
	err = errors.Join(s.memory(), s.begun(), s.round(), s.ends(), s.behaves())
	return errors.Join(err, s.Close())
}

// plays sets the answers of a model. The last is given again and again.
func (s *stage) plays(d dialect, answers ...answer) {
	s.models.mu.Lock()
	defer s.models.mu.Unlock()
	s.models.cases["/"+d.name] = &played{dialect: d, answers: answers}
}

// heard returns what a model was asked.
func (s *stage) heard(d dialect) []string {
	s.models.mu.Lock()
	defer s.models.mu.Unlock()
	return s.models.cases["/"+d.name].requests
}

// run has a model play a run.
func (s *stage) run(d dialect, args object, answers ...answer) (string, error) {
	s.plays(d, answers...)
	return s.Must("run_agent", s.args(d, args))
}

// args are those of a run, with a title of its own.
func (s *stage) args(d dialect, more object) object {
	s.runs++
	args := object{"task": s.title(), "model": d.name, "max_rounds": 100, "max_tokens": 10_000_000}
	maps.Copy(args, more)
	return args
}

func (s *stage) title() string { return fmt.Sprintf("trial %d.", s.runs) }

// judge prints a figure, and fails if it is more than it may be at full size.
func (s *stage) judge(what string, got, most time.Duration) error {
	fmt.Printf("| %s | %.2f ms | < %d ms |\n", what, harness.Milliseconds(got), most.Milliseconds())
	if s.env.Full() && got >= most {
		return fmt.Errorf("%s: %v, want less than %v", what, got, most)
	}
	return nil
}

// memory compares the resident memory of the server before, at most during and after a run of the
// usual length whose calls read. A short run goes before it, which makes what the others use.
func (s *stage) memory() error {
	if _, err := s.run(chatDialect, object{}, says(look), says(found)); err != nil {
		return err
	}
	fmt.Println("| a run of 15 rounds | more resident memory | |\n|---|---|---|")
	pid := s.Cmd.Process.Pid
	var peaks, lefts []float64
	for range s.env.Of(10, 2) {
		if s.env.Full() {
			time.Sleep(5 * time.Second) // until the server has given back what the run before took
		}
		before := harness.Resident(pid)
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil { // its peak begins anew
			return err
		}
		var answers []answer
		for i := range 14 {
			answers = append(answers, says(turn{text: "I look.", calls: []toolCall{{fmt.Sprintf("c%d", i), "read_file", fmt.Sprintf(`{"path":"k%d.txt"}`, i%8)}}}))
		}
		got, err := s.run(chatDialect, object{"max_rounds": 15}, append(answers, says(found))...)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(got, "completed; run ") {
			return errors.New(got)
		}
		peak, err := harness.PeakResident(pid)
		if err != nil {
			return err
		}
		peaks, lefts = append(peaks, peak-before), append(lefts, harness.Resident(pid)-before)
	}
	peak, left := harness.Median(peaks[1:]), harness.Median(lefts[1:])
	fmt.Printf("| the first of a server, at most | %.1f MB | |\n| one of the next, at most | %.1f MB | < %d MB |\n| after it | %.1f MB | < %d MB |\n\n", peaks[0], peak, roundsAtMost, left, roundsAtMost)
	if s.env.Full() && (peak >= roundsAtMost || left >= roundsAtMost) {
		return fmt.Errorf("a run takes %.1f MB and leaves %.1f MB, want less than %d", peak, left, roundsAtMost)
	}
	return nil
}

// noted sends a turn, and notes when it sends the last event.
func noted(t turn, at *atomic.Int64) answer {
	return func(w http.ResponseWriter, d dialect) {
		all := d.events(t, once)
		stream(w, all[:len(all)-1])
		_ = seen(at) // one that is not seen is missing in the count
		at.Store(time.Now().UnixNano())
		stream(w, all[len(all)-1:])
	}
}

// seen waits until the opening by the call before has been read, which a busy machine may delay.
func seen(at *atomic.Int64) error {
	return harness.Await("the opening of a file", func() bool { return at.Load() == 0 })
}

// begun times from the last event of a turn until its call opens the file that it reads or edits,
// which the kernel tells.
func (s *stage) begun() error {
	fmt.Println("| with a model that answers at once | median | |\n|---|---|---|")
	for _, c := range []struct {
		what, tool string
		args       func(i int) string
	}{
		{"the end of a turn to a call that reads a file", "read_file", func(int) string { return `{"path":"begun/n.txt"}` }},
		{"the end of a turn to a call that edits a file", "edit_file", func(i int) string {
			return fmt.Sprintf(`{"path":"begun/n.txt","edits":[{"old_text":"%d","new_text":"%d"}]}`, i, i+1)
		}},
	} {
		for _, d := range []dialect{chatDialect, messagesDialect} {
			if err := write(filepath.Join(s.dir, "begun", "n.txt"), "0\n"); err != nil {
				return err
			}
			var at atomic.Int64
			all, stop, err := opened(filepath.Join(s.dir, "begun"), "n.txt", &at)
			if err != nil {
				return err
			}
			rounds := s.env.Of(99, 5)
			var answers []answer
			for i := range rounds {
				answers = append(answers, noted(turn{calls: []toolCall{{"c" + strconv.Itoa(i), c.tool, c.args(i)}}}, &at))
			}
			got, err := s.run(d, object{"tools": []string{c.tool}}, append(answers, says(found))...)
			err = errors.Join(err, seen(&at))
			took := all()
			stop()
			switch {
			case err != nil:
				return err
			case len(took) != rounds:
				return fmt.Errorf("%s: %d of %d calls were seen: %s", c.what, len(took), rounds, got)
			}
			if err := s.judge(c.what+", "+d.name, harness.Median(took), begunWithin); err != nil {
				return err
			}
		}
	}
	return nil
}

// opened notes how long after at a file of a directory is opened the next time. all returns what it
// has noted.
func opened(dir, name string, at *atomic.Int64) (all func() []time.Duration, stop func(), err error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, nil, err
	}
	watch := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN); err != nil {
		return nil, nil, errors.Join(err, watch.Close())
	}
	var took []time.Duration
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 64<<10)
		for {
			n, err := watch.Read(buf)
			if err != nil {
				return
			}
			now := time.Now().UnixNano()
			if !bytes.Contains(buf[:n], []byte(name+"\x00")) {
				continue // the directory
			}
			if since := at.Swap(0); since != 0 {
				took = append(took, time.Duration(now-since))
			}
		}
	}()
	stop = func() { _ = watch.Close() }
	return func() []time.Duration {
		stop()
		<-done
		return took
	}, stop, nil
}

// round times runs of many rounds whose calls do nothing.
func (s *stage) round() error {
	for _, d := range []dialect{chatDialect, messagesDialect} {
		rounds := s.env.Of(99, 5)
		var answers []answer
		for i := range rounds {
			answers = append(answers, says(turn{calls: []toolCall{{"c" + strconv.Itoa(i), "calculator", fmt.Sprintf(`{"expression":"%d+1"}`, i)}}}))
		}
		var all []time.Duration
		for range s.env.Of(5, 1) {
			got, err := s.run(d, object{"tools": []string{"calculator"}}, append(answers, says(found))...)
			if err != nil {
				return err
			}
			if want := fmt.Sprintf(": %d rounds, ", rounds+1); !strings.HasPrefix(got, "completed; run ") || !strings.Contains(got, want) {
				return errors.New(got)
			}
			all = append(all, time.Duration(s.Took.Load())/time.Duration(rounds+1))
		}
		if err := s.judge(fmt.Sprintf("a round of %d whose call does nothing, with the model's own time, %s", rounds+1, d.name), harness.Median(all), roundWithin); err != nil {
			return err
		}
	}
	return nil
}

// ends times from a cancellation, or a call of job_stop, until the run has ended: as its record
// says, since nothing is sent for a call that was cancelled.
func (s *stage) ends() error {
	for _, d := range []dialect{chatDialect, messagesDialect} {
		for _, c := range []struct {
			what  string
			end   func(d dialect, args object, first answer, begun func() bool) (time.Duration, error)
			tools bool
		}{
			{"cancelled in the middle of a turn", s.cancelled, false},
			{"cancelled in the middle of a call", s.cancelled, true},
			{"job_stop in the middle of a turn", s.stopped, false},
			{"job_stop in the middle of a call", s.stopped, true},
		} {
			var all []time.Duration
			for range s.env.Of(9, 1) {
				var talks atomic.Bool
				ticks := filepath.Join(s.dir, "ticks")
				_ = os.Remove(ticks)
				first, begun := goesOn(&talks), talks.Load
				if c.tools {
					first = says(turn{calls: []toolCall{{"c1", "bash", `{"command":"while :; do echo >> ticks; sleep 0.01; done"}`}}})
					begun = func() bool { _, err := os.Stat(ticks); return err == nil }
				}
				took, err := c.end(d, s.args(d, object{"tools": []string{"bash"}}), first, begun)
				if err == nil && c.tools {
					err = still(ticks)
				}
				if err != nil {
					return fmt.Errorf("%s, %s: %w", c.what, d.name, err)
				}
				all = append(all, took)
			}
			if err := s.judge(c.what+", "+d.name, harness.Median(all), endedWithin); err != nil {
				return err
			}
		}
	}
	fmt.Println()
	return nil
}

// goesOn begins a turn that does not end until nobody reads it, a word at a time.
func goesOn(talks *atomic.Bool) answer {
	return func(w http.ResponseWriter, d dialect) {
		all := d.events(turn{text: strings.Repeat("and on ", 1000)}, once)
		stream(w, all[:2])
		talks.Store(true)
		for {
			if _, err := fmt.Fprint(w, all[2]+"\n\n"); err != nil {
				return
			}
			if http.NewResponseController(w).Flush() != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// still reports an error if a file still grows.
func still(path string) error {
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			return -1
		}
		return info.Size()
	}
	before := size()
	time.Sleep(50 * time.Millisecond)
	if after := size(); after != before {
		return errors.New("the program goes on after the run has ended")
	}
	return nil
}

func (s *stage) cancelled(d dialect, args object, first answer, begun func() bool) (time.Duration, error) {
	s.plays(d, first)
	id := s.Last.Add(1)
	call, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": object{"name": "run_agent", "arguments": args}})
	if err != nil {
		return 0, err
	}
	cancel, err := json.Marshal(object{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": object{"requestId": id}})
	if err != nil {
		return 0, err
	}
	if err := errors.Join(s.Send(call), harness.Await("the run", begun)); err != nil {
		return 0, err
	}
	list, err := s.Must("job_list", object{})
	if err != nil {
		return 0, err
	}
	handle := ""
	for line := range strings.Lines(list) {
		if strings.HasSuffix(line, "agent: "+s.title()+"\n") {
			handle, _, _ = strings.Cut(line, " ")
		}
	}
	begin := time.Now()
	if err := s.Send(cancel); err != nil {
		return 0, err
	}
	var last string
	err = harness.Await("the end of the run", func() bool {
		last, err = s.Must("job_output", object{"job": handle})
		return err != nil || strings.Contains(last, "cancelled")
	})
	if took := time.Since(begin); err == nil {
		return took, nil
	}
	return 0, fmt.Errorf("%w: %s", err, last)
}

func (s *stage) stopped(d dialect, args object, first answer, begun func() bool) (time.Duration, error) {
	s.plays(d, first)
	args["background"] = true
	got, err := s.Must("run_agent", args)
	if err != nil {
		return 0, err
	}
	_, handle, _ := strings.Cut(got, "; run ")
	handle, _, _ = strings.Cut(handle, ":")
	if err := harness.Await("the run", begun); err != nil {
		return 0, err
	}
	got, err = s.Must("job_stop", object{"job": handle})
	took := time.Duration(s.Took.Load())
	if err == nil && !strings.Contains(got, "cancelled") {
		err = errors.New(got)
	}
	return took, err
}
