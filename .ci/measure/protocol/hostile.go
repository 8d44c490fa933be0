package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

const (
	// hostileMemory is how much more than at rest a server may hold, in MB:
	// twice the longest body.
	hostileMemory = 32
	// hostileDelay is what a normal call may take meanwhile.
	hostileDelay = 100 * time.Millisecond
)

// Hostile sends 1,000 of each kind of hostile request at the same time, to a
// server with a token and to one without, while a client works.
func Hostile(ctx context.Context, env harness.Environment) error {
	var errs []error
	for _, auth := range []string{"token", "none"} {
		if err := hostileTo(ctx, env, auth); err != nil {
			errs = append(errs, fmt.Errorf("--auth %s: %w", auth, err))
		}
	}
	return errors.Join(errs...)
}

func hostileTo(ctx context.Context, env harness.Environment, auth string) (err error) {
	dir, err := harness.Sample()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := harness.Listen(ctx, auth == "token", env.Binary, "serve", "--http", "127.0.0.1:0", "--auth", auth, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	addr, err := server.Addr()
	if err != nil {
		return err
	}
	t := target{addr: addr, token: server.Token}
	for i := range 500 { // warm
		if _, err := t.normal(nil, i); err != nil {
			return err
		}
	}
	time.Sleep(2 * time.Second)
	pid := server.Cmd.Process.Pid
	idle, open := harness.Resident(pid), descriptors(pid)

	fmt.Printf("| hostile, --auth %s, %.0f MB at rest | at once | wanted | got | the last after | slowest normal call | memory above rest |\n|---|---|---|---|---|---|---|\n", auth, idle)
	var errs []error
	for _, group := range hostileGroups(env, auth) {
		if len(group) > 1 { // few kinds would have to answer for all that a server takes up once
			probe := t.keepCalling()
			_, err := wave(ctx, t, group, env.Of(1000, 40))
			probe()
			if err != nil {
				return err
			}
		}
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o200); err != nil {
			return fmt.Errorf("start to count the peak anew: %w", err)
		}
		before := harness.Resident(pid)
		probe := t.keepCalling()
		results, err := wave(ctx, t, group, env.Of(1000, 40))
		slowest, calls, failed := probe()
		if err != nil {
			return err
		}
		peak, err := highWater(pid)
		if err != nil {
			return err
		}
		for _, a := range group {
			r := results[a.name]
			fmt.Printf("| %s | %d | %s | %s | %.1f s | %.0f ms of %d | %.0f MB |\n", a.name, r.N, strings.Join(a.want, ", "),
				r, r.Last.Seconds(), harness.Milliseconds(slowest), calls, peak-idle)
			errs = append(errs, r.check(a))
		}
		name := group[0].name
		if len(group) > 1 {
			name += " and others"
		}
		if slowest >= hostileDelay && env.Full() && !group[0].heavy {
			errs = append(errs, fmt.Errorf("%s: a normal call took %.0f ms, want under %d", name, harness.Milliseconds(slowest), hostileDelay.Milliseconds()))
		}
		if own := peak - max(idle, before); own > hostileMemory && !group[0].heavy { // less what an earlier kind has left
			errs = append(errs, fmt.Errorf("%s: %.0f MB more than before, want at most %d", name, own, hostileMemory))
		}
		if len(failed) > 0 {
			errs = append(errs, fmt.Errorf("%s: %d of %d normal calls: %w", name, len(failed), calls, failed[0]))
		}
	}
	left := descriptors(pid)
	for range 100 { // a connection that is refused lingers for a moment
		if left <= open {
			break
		}
		time.Sleep(100 * time.Millisecond)
		left = descriptors(pid)
	}
	if left > open {
		errs = append(errs, fmt.Errorf("%d descriptors at rest, %d 10 s after the last wave", open, left))
	}
	return errors.Join(errs...)
}

// descriptors is how many a process has open.
func descriptors(pid int) int {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return -1 // it has ended, and stop says so
	}
	return len(list)
}

// hostileGroups are the kinds that are sent together: at full size each is by
// itself; in a quick run those that wait do so together, and only once.
func hostileGroups(env harness.Environment, auth string) [][]attack {
	var groups [][]attack
	var waiting []attack
	for _, a := range attacks() {
		switch {
		case auth != "token" && (a.token || a.waits && !env.Full()):
		case a.waits && !env.Full():
			waiting = append(waiting, a)
		default:
			groups = append(groups, []attack{a})
		}
	}
	if len(waiting) > 0 {
		groups = append(groups, waiting)
	}
	return groups
}

// outcomes is how the connections of a kind ended.
type outcomes struct {
	N       int
	Got     map[string]int
	Wrong   int               // of N
	Samples map[string]string // of an outcome that is wrong: what was sent, what came
	Last    time.Duration     // when the last one ended
}

func (o *outcomes) String() string {
	var b strings.Builder
	for i, got := range slices.Sorted(maps.Keys(o.Got)) {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%d %s", o.Got[got], got)
	}
	return b.String()
}

func (o *outcomes) check(a attack) error {
	var errs []error
	for _, got := range slices.Sorted(maps.Keys(o.Samples)) {
		errs = append(errs, fmt.Errorf("%s: %s: %s", a.name, got, o.Samples[got]))
	}
	if a.within > 0 && o.Last > a.within {
		errs = append(errs, fmt.Errorf("%s: the last ended after %.1f s, want %.0f", a.name, o.Last.Seconds(), a.within.Seconds()))
	}
	return errors.Join(errs...)
}

// wave has another process send n of each kind at the same time. It runs at a
// low priority: it shares the machine with the server, which attackers do not.
func wave(ctx context.Context, t target, kinds []attack, n int) (map[string]*outcomes, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"-n", "10", self, "wave", t.addr, t.token, strconv.Itoa(n)}
	for _, a := range kinds {
		args = append(args, a.name)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nice", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("wave of %s: %w", kinds[0].name, err)
	}
	results := map[string]*outcomes{}
	return results, json.Unmarshal(out, &results)
}

// highWater returns the most memory that was resident, in MB.
func highWater(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kB, err := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kB) / 1024, err
		}
	}
	return 0, errors.New("no VmHWM in the status of the server")
}

// keepCalling makes normal calls, one every few milliseconds, until the function
// that it returns is called.
func (t target) keepCalling() func() (slowest time.Duration, calls int, failed []error) {
	stop, ended := make(chan struct{}), make(chan struct{})
	var (
		slowest time.Duration
		calls   int
		failed  []error
		w       *rawhttp.Wire
	)
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			begin := time.Now()
			var err error
			w, err = t.normal(w, calls)
			slowest = max(slowest, time.Since(begin))
			calls++
			if err != nil {
				failed = append(failed, err)
			}
			select {
			case <-stop:
				if w != nil {
					w.Close()
				}
				return
			case <-tick.C:
			}
		}
	}()
	return func() (time.Duration, int, []error) {
		time.Sleep(100 * time.Millisecond) // for what the wave leaves behind
		close(stop)
		<-ended
		return slowest, calls, failed
	}
}

// normalText is what every fifth of the normal calls carries along, as one that
// writes a file does.
var normalText = strings.Repeat("x", 20_000)

// normal makes the n-th normal call on w, on a new connection where it is nil,
// and returns the connection for the next.
func (t target) normal(w *rawhttp.Wire, n int) (*rawhttp.Wire, error) {
	if w == nil {
		var err error
		if w, err = rawhttp.Connect(t.addr); err != nil {
			return nil, err
		}
	}
	call := t.call("read_file", `{"path":"hello.txt"}`)
	if n%5 == 0 {
		call.body = []byte(strings.Replace(string(call.body), `"_meta":{`, `"_meta":{"x.example/text":"`+normalText+`",`, 1))
	}
	r, got, err := w.Exchange(call.bytes())
	if err != nil || r.Status != 200 || !strings.Contains(string(got), "hello, world") {
		w.Close()
		return nil, r.Bad("read_file", got, err)
	}
	if r.Closes {
		w.Close()
		return nil, nil
	}
	return w, nil
}
