package terminals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// What code_interpreter must reach.
const (
	firstAnswer = 3 * time.Second
	nextAnswer  = 50 * time.Millisecond
)

// cell is one cell of kernel, with what its text must hold.
type cell struct {
	code, want string
	action     string // in the place of run
	timeout    string
	images     int
	slow       bool // its own work takes long: its time is not judged
}

// kernelCells are the cells of the figure; plot are those that want matplotlib.
func kernelCells(plots bool) []cell {
	cells := []cell{
		{code: "x = 1", want: "ok in"}, {code: "x += 1; x", want: "value: 2"}, {code: "_ * 10", want: "value: 20"},
		{code: "def f(n):\n    return 1 / n", want: "ok in"}, {code: "f(4)", want: "value: 0.25"},
		{code: "f(0)", want: "File \"<cell 4>\", line 2, in f"}, {code: "x", want: "value: 2"},
		{code: "y = (", want: "SyntaxError: '(' was never closed"}, {code: "print('out'); x", want: "out"},
		{code: "import sys\nprint('err', file=sys.stderr)", want: "err"}, {code: "nothing", want: "NameError"},
		{code: "import time\ntime.sleep(60)", timeout: "1s", want: "interrupted: the cell took longer than 1s; variables are kept", slow: true},
		{code: "x", want: "value: 2"}, {code: "a = bytearray(1 << 30); len(a)", want: "value: 1073741824", slow: true},
		{code: "del a", want: "ok in"}, {code: "bytearray(64 << 30)", want: "MemoryError"},
		{code: "input('name? ')", want: "there is no input"}, {code: "await __import__('asyncio').sleep(0, 'slept')", want: "value: 'slept'", slow: true},
		{code: "open('made.txt', 'w').write('abc')", want: "files: created made.txt"},
		{code: "print('z' * 50_000_000)", want: "left out", slow: true}, {code: "{'a': [1, 2]}", want: "value: {'a': [1, 2]}"},
		{code: "sys.stdout.buffer.write(b'\\xff\\n')", want: "ok in"}, {code: "print('\\x1b[31mred\\x1b[0m')", want: "\n\nred"},
	}
	if plots {
		cells = append(cells,
			cell{code: "import matplotlib.pyplot as plt", want: "ok in", slow: true},
			cell{code: "plt.plot([1, 3, 2]); plt.show()", want: "ok in", images: 1, slow: true},
			cell{code: "fig, ax = plt.subplots(); ax.bar([1, 2], [3, 4]); fig", want: "ok in", images: 1, slow: true},
		)
	}
	return append(cells,
		cell{code: "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", want: "all variables are lost", slow: true},
		cell{action: "restart", want: "restarted", slow: true}, cell{code: "x", want: "NameError"},
		cell{code: "x = 'again'; x", want: "value: 'again'"}, cell{action: "end", want: "ended", slow: true},
	)
}

// Kernel runs cells in an interpreter that goes on between calls, one after another.
func Kernel(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("kernel")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	const python = "/usr/bin/python3"
	plots := exec.CommandContext(ctx, python, "-c", "import matplotlib").Run() == nil
	c, err := harness.Dial(ctx, nil, env.Binary, "serve", "--tools=code_interpreter", "--python="+python, dir)
	if err != nil {
		return err
	}
	if err := c.Initialize(); err != nil {
		return errors.Join(err, c.Close())
	}
	var handle string
	var first time.Duration
	var next []time.Duration
	var wrong []string
	cells := kernelCells(plots)
	for i, cell := range cells {
		args := map[string]any{"code": cell.code}
		for key, value := range map[string]string{"handle": handle, "action": cell.action, "timeout": cell.timeout} {
			if value != "" {
				args[key] = value
			}
		}
		begin := time.Now()
		m, err := c.Call(i+1, "tools/call", map[string]any{"name": "code_interpreter", "arguments": args})
		took := time.Since(begin)
		if err != nil {
			return errors.Join(err, c.Close())
		}
		text, images := contentOf(m)
		if !strings.Contains(text, cell.want) || images != cell.images {
			wrong = append(wrong, fmt.Sprintf("%q: %d images, %.300s", cell.code, images, text))
		}
		switch {
		case i == 0:
			first, handle = took, regexp.MustCompile(`py-[a-z0-9]+`).FindString(text)
		case !cell.slow:
			next = append(next, took)
		}
	}
	slices.Sort(next)
	fmt.Println("| cells | right | first answer | next, median | slowest |\n|---|---|---|---|---|")
	fmt.Printf("| %d, plots: %t | %d | %d ms | %.1f ms | %.1f ms |\n", len(cells), plots, len(cells)-len(wrong), first.Milliseconds(),
		float64(harness.Median(next).Microseconds())/1000, float64(next[len(next)-1].Microseconds())/1000)
	err = c.Close()
	switch {
	case len(wrong) > 0:
		return errors.Join(fmt.Errorf("%d cells are wrong:\n%s", len(wrong), strings.Join(wrong, "\n")), err)
	case env.Full() && (first > firstAnswer || harness.Median(next) > nextAnswer):
		return errors.Join(fmt.Errorf("first answer %v, next %v; want %v and %v", first, harness.Median(next), firstAnswer, nextAnswer), err)
	}
	return err
}

// contentOf is the text of a result and the number of its images.
func contentOf(m harness.Message) (text string, images int) {
	var result struct {
		Content []struct{ Type, Text string } `json:"content"`
	}
	if json.Unmarshal(m.Result, &result) != nil {
		return string(m.Result), 0
	}
	for _, block := range result.Content {
		if block.Type == "image" {
			images++
		}
		text += block.Text
	}
	return text, images
}
