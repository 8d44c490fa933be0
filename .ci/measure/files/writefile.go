package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

const editedLines = 10_000

// Writefile measures how long writes and edits take: durable, not durable, and the
// peer, which never syncs, in turn; and what the system itself takes with
// and without fsync.
func Writefile(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("writefile")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	writers := []*diskWriter{
		{name: "toolcrib", program: env.Writer(filepath.Join(dir, "durable"))},
		{name: "toolcrib --durable=false", program: env.Writer(filepath.Join(dir, "quick"), "--durable=false")},
		{name: "server-filesystem", program: env.Peer(filepath.Join(dir, "peer")), peer: true},
		{name: "write, fsync, rename, fsync", plain: true, sync: true},
		{name: "write, rename", plain: true},
	}
	for i, w := range writers {
		w.dir = filepath.Join(dir, []string{"durable", "quick", "peer", "synced", "plain"}[i])
		if err := w.begin(ctx); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	jobs := []string{"write 10 kB, new", "write 10 kB, overwrite", "edit one line of 10,000"}
	took := make([][][]float64, len(jobs))
	for job := range jobs {
		took[job] = make([][]float64, len(writers))
		for n := range env.Of(500, 20) {
			for i, w := range writers {
				begin := time.Now()
				if err := w.do(job, n); err != nil {
					return fmt.Errorf("%s: %s: %w", w.name, jobs[job], err)
				}
				took[job][i] = append(took[job][i], harness.Milliseconds(time.Since(begin)))
			}
		}
	}
	fmt.Println("| median of one call | durable | --durable=false | server-filesystem | durable / peer | not durable / peer | a bare write with fsync of file and directory, without |\n|---|---|---|---|---|---|---|")
	var failed error
	for job, name := range jobs {
		m := make([]float64, len(writers))
		for i := range writers {
			m[i] = harness.Median(took[job][i])
		}
		fmt.Printf("| %s | %.2f ms | %.2f ms | %.2f ms | %.2f | %.2f | %.2f ms, %.2f ms |\n", name, m[0], m[1], m[2], m[0]/m[2], m[1]/m[2], m[3], m[4])
		if env.Full() && (m[0] > 1.5*m[2] || m[1] >= m[2]) {
			failed = errors.Join(failed, fmt.Errorf("%s: %.2f and %.2f of the peer's time, want at most 1.5 and less than 1", name, m[0]/m[2], m[1]/m[2]))
		}
	}
	for _, w := range writers {
		failed = errors.Join(failed, w.end())
	}
	return failed
}

// diskWriter is one way of writing files.
type diskWriter struct {
	name    string
	dir     string
	program harness.Program
	peer    bool
	plain   bool // no server: the system calls alone
	sync    bool // with plain: fsync too
	server  *harness.ToolUser
	line    int // what the line that is edited counts
}

func (w *diskWriter) begin(ctx context.Context) (err error) {
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		return err
	}
	if err := writeLines(filepath.Join(w.dir, "long.txt"), 0, editedLines, w.longLine); err != nil || w.plain {
		return err
	}
	w.server, err = harness.UseTools(ctx, w.program)
	return err
}

func (w *diskWriter) longLine(n int) string {
	if n == editedLines/2 {
		return fmt.Sprintf("the line that counts, at %d\n", w.line)
	}
	return fmt.Sprintf("line %d of a file that has many of them\n", n)
}

// content is 10 kB of text that no other call has written.
func (w *diskWriter) content(n int) string {
	head := fmt.Sprintf("version %d for %s\n", n, w.name)
	return head + strings.Repeat("a line of text\n", (10_000-len(head))/15)
}

func (w *diskWriter) do(job, n int) error {
	name := filepath.Join(w.dir, "over.txt")
	if job == 0 {
		name = filepath.Join(w.dir, fmt.Sprintf("new-%d.txt", n))
	}
	switch {
	case job < 2 && w.plain:
		return w.write(name, w.content(n))
	case job < 2:
		_, err := w.server.Must("write_file", map[string]any{"path": name, "content": w.content(n)})
		return err
	}
	name = filepath.Join(w.dir, "long.txt")
	before := strings.TrimSuffix(w.longLine(editedLines/2), "\n")
	w.line++
	after := strings.TrimSuffix(w.longLine(editedLines/2), "\n")
	if w.plain {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return w.write(name, strings.Replace(string(data), before, after, 1))
	}
	old, replaced := "old_text", "new_text"
	if w.peer {
		old, replaced = "oldText", "newText"
	}
	_, err := w.server.Must("edit_file", map[string]any{"path": name, "edits": []map[string]any{{old: before, replaced: after}}})
	return err
}

// write replaces a file by a rename.
func (w *diskWriter) write(name, content string) error {
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if w.sync {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+".new", name); err != nil || !w.sync {
		return err
	}
	dir, err := os.Open(w.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// end checks that the last edit is there.
func (w *diskWriter) end() error {
	data, err := os.ReadFile(filepath.Join(w.dir, "long.txt"))
	if err == nil && !strings.Contains(string(data), w.longLine(editedLines/2)) {
		err = fmt.Errorf("%s: the last edit is not in the file", w.name)
	}
	if w.server != nil {
		err = errors.Join(err, w.server.Close())
	}
	return err
}
