package code

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/changed"
	"toolcrib/tools/internal/secrets"
	"toolcrib/tools/internal/text/textfile"
)

//go:embed code_interpreter.md
var codeInterpreterDoc string

const cellTimeout = 10 * time.Minute // the longest that can be asked for

// InterpreterIn says what to run, and where.
type InterpreterIn struct {
	Code    string `json:"code,omitempty" jsonschema:"maxLength=1000000" jsonschema_description:"Python cell; its last expression is shown." alias:"script,source,python"`
	Handle  string `json:"handle,omitempty" jsonschema:"maxLength=100" jsonschema_description:"Interpreter; default your last one; \"new\" starts another." alias:"session,kernel"`
	Action  string `json:"action,omitempty" jsonschema:"enum=run,enum=interrupt,enum=restart,enum=end,default=run" jsonschema_description:"run the code; interrupt the cell that runs; restart with nothing kept; end."`
	Timeout string `json:"timeout,omitempty" unit:"s,ms" jsonschema:"default=60s,maxLength=20" jsonschema_description:"Interrupt the cell after, such as \"5m\"; at most 10m."`
	Network bool   `json:"network,omitempty" jsonschema:"default=false" jsonschema_description:"Start it with the network; the user may be asked."`
	Most    int    `json:"max_output,omitempty" jsonschema:"minimum=200,maximum=45000,default=20000" jsonschema_description:"Bytes of output to show." alias:"max_output_length,max_output_bytes,max_output_chars"`
}

// InterpreterOut is the result of the cell.
type InterpreterOut struct {
	outcome
	Images []tools.Block
}

// Content returns the text, then the images.
func (o InterpreterOut) Content() []tools.Block {
	return append([]tools.Block{tools.Text(o.Text())}, o.Images...)
}

// Trim implements [tools.Trimmer].
func (o InterpreterOut) Trim(budget int) InterpreterOut {
	o.outcome = o.trimmed(budget)
	return o
}

func codeInterpreterTool(d Deps) tools.Tool {
	return tools.New(tools.Def[InterpreterIn, InterpreterOut]{
		Name: "code_interpreter", Title: "Run Python cells", Doc: codeInterpreterDoc, Tags: []string{"code", "run", "data", "session", "state", "jupyter", "kernel"},
		Foreign:   tools.Called("python", "ipython", "jupyter"),
		Spellings: fenced(),
		Access:    tools.Exec, Effects: tools.Workspace | tools.Process | tools.Network | tools.State | tools.Destroys,
		Streams: true, Timeout: cellTimeout + 30*time.Second,
		Needs:  []tools.Need{{Binaries: systemPythons, How: howPython}},
		Limits: tools.Limits{Facts: map[string]any{"idle": int(kernelIdle.Minutes()), "most": mostKernels, "memory": pythonMemory >> 20}},
		Plan: func(_ context.Context, in InterpreterIn) (tools.Plan, error) {
			p := planOf(in.Code, in.Network)
			p.Effects |= tools.State
			return p, nil
		},
		Redact: func(_ context.Context, in InterpreterIn) InterpreterIn {
			in.Code = secrets.Code(in.Code)
			return in
		},
		Examples: []tools.Example[InterpreterIn]{{
			Say:   "A first cell; the next one goes on with its variables.",
			Files: map[string]string{"data.csv": "city,people\nUlm,126949\nBonn,335789\n"},
			In:    InterpreterIn{Code: "import csv\nrows = list(csv.DictReader(open('data.csv')))\nprint(len(rows), 'rows')\nrows[0]"},
			Want:  "ok in …; new handle py-…\n...\nvalue: {'city': 'Ulm', 'people': '126949'}\n\n2 rows",
		}, {
			Say:  "A traceback has the lines of the cells.",
			In:   InterpreterIn{Code: "def half(n):\n    return n / 0\n\nhalf(4)", Timeout: "20s"},
			Want: "error in …; …handle py-…\n...\nTraceback (most recent call last):\n  File \"<cell 1>\", line 4, in <module>\n...\n  File \"<cell 1>\", line 2, in half\n...\nZeroDivisionError: division by zero",
		}},
		Run: d.codeInterpreter,
	})
}

func (d Deps) codeInterpreter(ctx context.Context, in InterpreterIn) (InterpreterOut, error) {
	if err := ctx.Err(); err != nil {
		return InterpreterOut{}, err
	}
	timeout, err := durations.Argument{Name: "timeout", Least: time.Millisecond, Most: cellTimeout}.Read(in.Timeout)
	if err != nil {
		return InterpreterOut{}, err
	}
	switch {
	case in.Action == "run" && in.Code == "":
		return InterpreterOut{}, tools.Errorf(tools.InvalidArgument, "there is no code to run").WithHint("give code, or another action")
	case in.Action != "run":
		return d.steer(ctx, in)
	}
	if in.Network {
		if err := d.Sandbox.AskHosts(ctx); err != nil {
			return InterpreterOut{}, err
		}
	}
	k, err := d.kernel(ctx, in)
	if err != nil {
		return InterpreterOut{}, err
	}
	out, err := d.runCell(ctx, k, in.Code, timeout)
	out.Output = shorten(out.Output, in.Most, out.lost)
	return out, err
}

// anew is the handle that asks for a new interpreter.
const anew = "new"

// kernel returns the interpreter for a cell, with its turn: that of the handle, the caller's
// last one, or a new one.
func (d Deps) kernel(ctx context.Context, in InterpreterIn) (k *kernel, err error) {
	if _, err := tools.Session(ctx).Workspace.OpenRoots(); err != nil { // one that is there would go on elsewhere
		return nil, err
	}
	if in.Handle == "" {
		if k = d.Kernels.last(ctx, in.Network); k != nil {
			in.Handle = k.handle
		}
	}
	if in.Handle == "" || in.Handle == anew {
		if k, err = d.Kernels.open(ctx, in.Network); err != nil {
			return nil, err
		}
		if err := d.startKernel(ctx, k); err != nil {
			d.Kernels.drop(k)
			return nil, err
		}
		return k, nil
	}
	if k, err = d.Kernels.find(ctx, in.Handle); err != nil {
		return nil, err
	}
	if in.Network && !k.network {
		return nil, tools.Errorf(tools.InvalidArgument, "interpreter %s was started without the network", k.handle).
			WithHint("handle=new starts one with it")
	}
	if err := k.take(); err != nil {
		return nil, err
	}
	if !k.alive() {
		d.Kernels.rest(k)
		return nil, tools.Errorf(tools.Conflict, "interpreter %s has ended, and its variables are lost", k.handle).
			WithHint("action=restart starts it again")
	}
	return k, nil
}

func (d Deps) runCell(ctx context.Context, k *kernel, code string, timeout time.Duration) (InterpreterOut, error) {
	fresh := k.cells == 0
	before := changed.Begin(ctx, tools.Session(ctx).Workspace, d.Sandbox.Recorded(ctx))
	begin, process := time.Now(), k.program()
	process.Begin(ctx, "code_interpreter")
	a, output, stopped, err := d.cell(ctx, k, code, timeout)
	if err != nil && !errors.Is(err, errEnded) {
		return InterpreterOut{}, err
	}
	took := durations.Rough(time.Since(begin))
	o := InterpreterOut{outcome: outcome{Output: output.text, lost: output.lost, Value: clean([]byte(a.Value)), Trace: clean([]byte(a.Error)), Within: process.Report(), Files: true}}
	switch {
	case err != nil && stopped:
		o.Status = fmt.Sprintf("ended: the cell took longer than %s and did not obey an interrupt; all variables are lost; action=restart starts again", durations.Exact(timeout))
	case err != nil:
		exit := process.Exit()
		how := exit.Signal
		if how == "" {
			how = fmt.Sprintf("exit %d", exit.Code)
		}
		o.Status = fmt.Sprintf("crashed after %s (%s): all variables are lost; action=restart starts again", took, how)
		o.Notes = append(o.Notes, starved(exit, o.Within))
	case stopped:
		o.Status = fmt.Sprintf("interrupted: the cell took longer than %s; variables are kept", durations.Exact(timeout))
	case a.Exit:
		o.Status, o.Exit = fmt.Sprintf("the cell ended the interpreter with exit code %d after %s; action=restart starts it again", a.Code, took), a.Code
	case a.Error != "":
		o.Status = "error in " + took
	default:
		o.Status = "ok in " + took
	}
	if fresh {
		o.Status += "; new"
		if a.Kind == "NameError" {
			o.Notes = append(o.Notes, "the interpreter is new: it has no variables of earlier cells")
		}
	} else {
		o.Status += ";"
	}
	o.Status += " handle " + k.handle
	touched := before.Changes(ctx, process)
	touched.Note(ctx)
	o.Notes = append(o.Notes, output.cutNote(), o.Within.Warning(), files(touched), process.Touched().Warning(), hint(a.pythonReport, k.network, o.Within))
	for _, img := range a.Images {
		if !decodes(img.MIME, img.Data) {
			o.Notes = append(o.Notes, "an image that cannot be decoded is left out")
			continue
		}
		o.Images = append(o.Images, tools.Block{Kind: tools.ImageBlock, Data: img.Data, MIME: img.MIME})
	}
	if a.Left > 0 {
		o.Notes = append(o.Notes, textfile.Count(a.Left, "image")+" too large or too many to show; save them to files")
	}
	return o, ctx.Err()
}

// decodes reports whether data begins like an image of that type.
func decodes(mime string, data []byte) bool {
	const side = 10_000
	cfg, err := png.DecodeConfig(bytes.NewReader(data))
	if mime == "image/jpeg" {
		cfg, err = jpeg.DecodeConfig(bytes.NewReader(data))
	}
	return err == nil && cfg.Width <= side && cfg.Height <= side
}

// steer interrupts, restarts or ends an interpreter.
func (d Deps) steer(ctx context.Context, in InterpreterIn) (InterpreterOut, error) {
	if in.Handle == "" {
		last := d.Kernels.last(ctx, false)
		if last == nil {
			return InterpreterOut{}, tools.Errorf(tools.InvalidArgument, "action %s wants a handle: no interpreter of yours is running", in.Action).WithHint("results of earlier cells have it")
		}
		in.Handle = last.handle
	}
	k, err := d.Kernels.find(ctx, in.Handle)
	if err != nil {
		return InterpreterOut{}, err
	}
	say := func(format string, args ...any) (InterpreterOut, error) {
		return InterpreterOut{outcome: outcome{Status: fmt.Sprintf(format, args...) + "; handle " + k.handle}}, nil
	}
	if in.Action == "interrupt" {
		if k.take() == nil {
			d.Kernels.rest(k)
			return say("nothing runs")
		}
		if err := k.interrupt(); err != nil {
			return InterpreterOut{}, err
		}
		return say("interrupted: its call tells how the cell ended")
	}
	if err := k.takeOrEnd(ctx); err != nil {
		return InterpreterOut{}, err
	}
	if in.Action == "end" {
		d.Kernels.drop(k)
		return InterpreterOut{outcome: outcome{Status: "ended: " + k.handle}}, nil
	}
	if k.program() != nil {
		k.end()
	}
	if err := d.startKernel(ctx, k); err != nil {
		d.Kernels.drop(k)
		return InterpreterOut{}, err
	}
	d.Kernels.rest(k)
	return say("restarted, with nothing kept")
}
