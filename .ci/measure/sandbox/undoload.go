package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// UndoLoad has many processes write at once while another program opens files, a file that is
// too large to be kept, and a server that rebuilds what it serves for an hour.
func UndoLoad(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("undoload")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	u, err := useApart(ctx, env.Writer(dir, "--preset=all").Args)
	if err != nil {
		return err
	}
	l := &undoLoad{tree: undoTree{dir: dir}, user: u, full: env.Full()}
	return errors.Join(l.all(ctx, env), u.Close())
}

// all ends at the first failure, which leaves programs that still write.
func (l *undoLoad) all(ctx context.Context, env harness.Environment) error {
	if err := l.writers(ctx, env.Of(5, 1)); err != nil {
		return err
	}
	if err := l.sparse(ctx); err != nil {
		return err
	}
	if err := l.results(ctx, env.Of(100, 2)); err != nil {
		return err
	}
	return l.serve(ctx, time.Duration(env.Of(3600, 10))*time.Second)
}

type undoLoad struct {
	tree undoTree
	user *harness.ToolUser
	full bool
}

// undoProbe opens a file for writing, which is reported, and has another process answer, in turns
// for a while. It prints how long each took, in microseconds: the median, 99 of 100, the slowest.
const undoProbe = `import os, sys, time
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(a[1])
    while os.read(a[0], 1):
        os.write(b[1], b"x")
    os._exit(0)
def report():
    os.close(os.open("probe", os.O_WRONLY))
def ask():
    os.write(a[1], b"x")
    os.read(b[0], 1)
end, took = time.time() + float(sys.argv[1]), ([], [])
while time.time() < end:
    for i, f in enumerate((report, ask)):
        begin = time.perf_counter()
        f()
        took[i].append(time.perf_counter() - begin)
    time.sleep(0.0005)
for t in took:
    t.sort()
    print(int(t[len(t) // 2] * 1e6), int(t[len(t) * 99 // 100] * 1e6), int(t[-1] * 1e6))
`

// undoWriter has processes that each rewrite a large file and small ones. They are forked: a
// start of Python takes longer than what they write.
const undoWriter = `import os, sys
def write(n):
    with open(f"w/{n}.large", "r+b") as f:
        f.write(b"new" * 1000)
    for i in range(50):
        with open(f"w/{n}.{i}", "w") as f:
            f.write("new")
for n in range(int(sys.argv[1])):
    if os.fork() == 0:
        write(n)
        os._exit(0)
while True:
    try:
        if os.wait()[1] != 0:
            sys.exit("a writer failed")
    except ChildProcessError:
        break
`

const undoWriters = 32

// writers lets 32 processes write at once. A reported call of another program may take at most
// 5 ms longer than an answer of a process, which shows how busy the machine is, 99 of 100 times: the
// slowest one of thousands is the scheduler's.
func (l *undoLoad) writers(ctx context.Context, rounds int) error {
	files := map[string]string{"probe": "probe", "probe.py": undoProbe, "writer.py": undoWriter}
	large := strings.Repeat("old large\n", 1<<20) // 32 of them are less than is kept of one command
	for n := range undoWriters {
		files[fmt.Sprintf("w/%d.large", n)] = large
		for i := range 50 {
			files[fmt.Sprintf("w/%d.%d", n, i)] = fmt.Sprintf("old %d\n", i)
		}
	}
	if err := harness.WriteTree(l.tree.dir, files); err != nil {
		return err
	}
	want, err := l.tree.look(ctx)
	if err != nil {
		return err
	}
	var more []time.Duration
	wrong := 0
	for range rounds {
		ended := make(chan error, 1)
		go func() {
			time.Sleep(200 * time.Millisecond) // the probe begins
			text, err := l.user.Must("bash", map[string]any{"command": fmt.Sprintf("python3 writer.py %d", undoWriters), "timeout": "50s"})
			if err == nil && (strings.Contains(text, "cannot be undone") || !strings.HasPrefix(text, "exit 0")) {
				err = errors.New(text) // on a busy machine it may go on as a job
			}
			ended <- err
		}()
		text, err := l.user.Must("bash", map[string]any{"command": "python3 probe.py 4", "timeout": "50s"})
		if err := errors.Join(err, <-ended); err != nil {
			return err
		}
		var reported, plain [3]int
		if _, err := fmt.Sscan(text[strings.LastIndex(text, "\n\n")+2:], &reported[0], &reported[1], &reported[2], &plain[0], &plain[1], &plain[2]); err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		more = append(more, time.Duration(reported[1]-plain[1])*time.Microsecond)
		fmt.Printf("%d writers: µs of another program: an open for writing %d, an answer of a process %d (median, 99 of 100, slowest)\n", undoWriters, reported, plain)
		if text, err = l.user.Must("restore_file", map[string]any{"undo": true}); err != nil {
			return err
		}
		got, err := l.tree.look(ctx)
		if err != nil {
			return err
		}
		if why := differ(want, got); why != "" {
			wrong++
			fmt.Printf("wrong: %s: %.300s\n", why, text)
			want = got
		}
	}
	worst := harness.Median(more)
	fmt.Printf("%d writers: a reported call of another program takes up to %.1f ms longer (median of %d rounds), %d undone wrong\n", undoWriters, harness.Milliseconds(worst), len(more), wrong)
	if wrong > 0 || l.full && worst > 5*time.Millisecond {
		return errors.New("writers: another program waits, or the undo is not exact")
	}
	return nil
}

// sparse writes into a file of 10 GiB: that it is not kept is told, and the undo does the rest.
func (l *undoLoad) sparse(ctx context.Context) error {
	const name = "disk.img"
	path := filepath.Join(l.tree.dir, name)
	if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 10<<30)); err != nil {
		return err
	}
	text, err := l.user.Must("bash", map[string]any{"command": "echo more >>probe; printf x | dd of=disk.img bs=1 seek=5000 conv=notrunc status=none"})
	if err != nil {
		return err
	}
	took := time.Duration(l.user.Took.Load())
	undo, err := l.user.Use("restore_file", map[string]any{"undo": true})
	if err != nil {
		return err
	}
	fmt.Printf("10 GiB: told as not kept, %.0f ms\n", harness.Milliseconds(took))
	if !strings.Contains(text, name+" is not kept") || undo.Failed || !strings.Contains(undo.Text, "not undone: "+name) || took > 5*time.Second {
		return fmt.Errorf("10 GiB: %s\n%s", text, undo.Text)
	}
	return errors.Join(os.Remove(path), ctx.Err())
}

// undoBuilder builds as fast as it can.
const undoBuilder = `import os
os.makedirs("built")
log, n = open("build.log", "a"), 0
while True:
    n += 1
    with open(f"built/{n}.tmp", "w") as f:
        f.write(f"build {n}\n")
    os.replace(f"built/{n}.tmp", f"built/{n}.js")
    os.mkdir(f"built/{n}")
    log.write(f"built {n}\n")
    log.flush()
`

// results takes back what a program does before and after the result of the call that started it,
// which comes in the middle of one of its system calls.
func (l *undoLoad) results(ctx context.Context, times int) error {
	if err := harness.WriteTree(l.tree.dir, map[string]string{"builder.py": undoBuilder}); err != nil {
		return err
	}
	want, err := l.tree.look(ctx)
	if err != nil {
		return err
	}
	wrong := 0
	for range times {
		text, err := l.user.Must("bash", map[string]any{"command": "python3 builder.py", "background": true})
		if err != nil {
			return err
		}
		_, job, _ := strings.Cut(text, "job ")
		if err := harness.Await("a build", l.built); err != nil { // on a busy machine it begins after the result
			return err
		}
		time.Sleep(150 * time.Millisecond)
		if text, err := l.user.Must("job_stop", map[string]any{"job": strings.Fields(job)[0]}); err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		got, err := l.undo(ctx, want, 2)
		if err != nil {
			return err
		}
		if why := differ(want, got); why != "" {
			wrong++
			fmt.Printf("wrong: %s\n", why)
			want = got
		}
	}
	fmt.Printf("%d results in the middle of a build: %d undone wrong\n", times, wrong)
	if wrong > 0 {
		return errors.New("what a program does around a result is not undone")
	}
	return nil
}

func (l *undoLoad) built() bool {
	_, err := os.Stat(filepath.Join(l.tree.dir, "build.log"))
	return err == nil
}

// undo takes back the newest change, and what was before it, until the tree is as wanted.
func (l *undoLoad) undo(ctx context.Context, want map[string]string, most int) (got map[string]string, err error) {
	for range most {
		if text, err := l.user.Must("restore_file", map[string]any{"undo": true, "overwrite": true}); err != nil {
			return nil, fmt.Errorf("%w: %s", err, text)
		}
		if got, err = l.tree.look(ctx); err != nil || differ(want, got) == "" {
			return got, err
		}
	}
	return got, nil
}

// undoServer serves and watches: it writes a log, builds by a new file that is renamed, and
// deletes what is temporary, a hundred times a second.
const undoServer = `import os, sys, time
os.makedirs("dist", exist_ok=True)
log, end, n = open("server.log", "a"), time.time() + float(sys.argv[1]), 0
while time.time() < end:
    n += 1
    with open(f"dist/chunk-{n}.tmp", "w") as f:
        f.write(f"build {n}\n")
    os.replace(f"dist/chunk-{n}.tmp", f"dist/app-{n % 20}.js")
    with open(f".{n}.swp", "w") as f:
        f.write("edited")
    os.remove(f".{n}.swp")
    log.write(f"built {n}\n")
    log.flush()
    time.sleep(0.01)
print("served", n)
`

// serve runs the server for a while and looks at the memory of toolcrib.
func (l *undoLoad) serve(ctx context.Context, lasts time.Duration) error {
	if err := harness.WriteTree(l.tree.dir, map[string]string{"server.py": undoServer}); err != nil {
		return err
	}
	want, err := l.tree.look(ctx)
	if err != nil {
		return err
	}
	text, err := l.user.Must("bash", map[string]any{"command": "python3 server.py " + strconv.Itoa(int(lasts.Seconds())), "background": true})
	if err != nil {
		return err
	}
	_, job, _ := strings.Cut(text, "job ")
	job = strings.Fields(job)[0]
	pid := l.user.Cmd.Process.Pid
	var early, late float64
	begin := time.Now()
	for ; time.Since(begin) < lasts; time.Sleep(lasts / 40) {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := harness.Resident(pid)
		switch part := 4 * time.Since(begin) / lasts; part {
		case 1: // before, it gives back what the undo of the writers took
			early = max(early, now)
		case 3:
			late = max(late, now)
		}
	}
	if text, err = l.user.Must("job_output", map[string]any{"job": job, "wait": "50s"}); err != nil || !strings.Contains(text, "served") {
		return errors.Join(err, errors.New(text))
	}
	// What it changed after the first result, and before it; since then it has written the log. On
	// a busy disk it may rest for two seconds, which begins another change.
	got, err := l.undo(ctx, want, 5)
	if err != nil {
		return err
	}
	why := differ(want, got)
	fmt.Printf("a server for %v: memory at most %.0f MB in the second quarter, %.0f MB in the last\n", lasts, early, late)
	if why != "" {
		return fmt.Errorf("what the server changed is not undone: %s", why)
	}
	if l.full && late > early+16 {
		return errors.New("the memory grows")
	}
	return nil
}
