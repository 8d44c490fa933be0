package code

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/code/internal/javascript"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/inner"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/secrets"
)

//go:embed run_javascript.md
var runJavascriptDoc string

const (
	javascriptTimeout = time.Minute // the longest that can be asked for
	javascriptMemory  = 128 << 20   // of values
	// javascriptWhole is the longest that a script takes with its calls.
	javascriptWhole = 5 * time.Minute
	// javascriptStart is how long the program may take to begin a script, and to end after it.
	javascriptStart = 10 * time.Second
	// javascriptSpace is the address space of the whole process; the engine reserves more than
	// it uses.
	javascriptSpace = 4 << 30
)

// RunJavascriptIn says what to run.
type RunJavascriptIn struct {
	Code    string `json:"code" jsonschema:"minLength=1,maxLength=1000000" jsonschema_description:"Script; its last expression is shown." alias:"script,source,javascript"`
	Timeout string `json:"timeout,omitempty" unit:"s,ms" jsonschema:"default=5s,maxLength=20" jsonschema_description:"Stop it after, such as \"500ms\"; at most 1m. The time of calls does not count."`
	Tools   bool   `json:"tools,omitempty" jsonschema:"default=false" jsonschema_description:"The script may call other tools: await tools.NAME({...})."`
}

// RunJavascriptOut is the result of the script.
type RunJavascriptOut struct {
	outcome
	Calls []madeCall // of tools
}

// Trim implements [tools.Trimmer].
func (o RunJavascriptOut) Trim(budget int) RunJavascriptOut {
	return RunJavascriptOut{o.trimmed(budget), o.Calls}
}

// Meta implements [tools.Metaer].
func (o RunJavascriptOut) Meta() map[string]any {
	meta := o.outcome.Meta()
	if o.Calls != nil {
		meta["toolcrib/calls"] = o.Calls
	}
	return meta
}

func runJavascriptTool(d Deps) tools.Tool {
	return tools.New(tools.Def[RunJavascriptIn, RunJavascriptOut]{
		Name: "run_javascript", Title: "Run JavaScript", Doc: runJavascriptDoc, Tags: []string{"code", "run", "script"},
		Spellings: fenced(),
		Access:    tools.Exec, Effects: tools.None,
		Streams: true, Timeout: javascriptWhole + 30*time.Second,
		Limits: tools.Limits{Facts: map[string]any{"memory": javascriptMemory >> 20, "calls": scriptCalls, "parallel": scriptPar, "whole": int(javascriptWhole.Minutes())}},
		Redact: func(_ context.Context, in RunJavascriptIn) RunJavascriptIn {
			in.Code = secrets.Code(in.Code)
			return in
		},
		Examples: []tools.Example[RunJavascriptIn]{{
			Say:  "The value of the last expression is shown, and what is printed.",
			In:   RunJavascriptIn{Code: "const words = 'to be or not to be'.split(' ');\nconsole.log(words.length, 'words');\nObject.groupBy(words, w => w.length)"},
			Want: "ok in …\n...\nvalue: [Object: null prototype] { \"2\": [\"to\", \"be\", \"or\", \"to\", \"be\"], \"3\": [\"not\"] }\n\n6 words",
		}, {
			Say:   "A script that calls tools: only what it prints comes back.",
			Files: map[string]string{"a.txt": "one two\n", "b.txt": "three\n"},
			In:    RunJavascriptIn{Tools: true, Code: "const files = (await tools.glob({pattern: '*.txt'})).trim().split('\\n').slice(1);\nconst texts = await Promise.all(files.map(path => tools.read_file({path, line_numbers: false})));\nObject.fromEntries(files.map((f, i) => [f, texts[i].split('\\n').slice(1).join(' ').trim().split(' ').length]))"},
			Want:  "ok in …\n3 calls of tools, …\n...\nvalue: { \"a.txt\": 2, \"b.txt\": 1 }",
		}, {
			Say:  "An error has the lines that it came through.",
			In:   RunJavascriptIn{Code: "function area(shape) {\n  return shape.size.width * 2;\n}\n\narea({})"},
			Want: "error in …\n...\nTypeError: cannot read property 'width' of undefined\n  at area (line 2, column …)\n  at line 5, column …",
		}, {
			Say:  "A script that does not end is stopped.",
			In:   RunJavascriptIn{Code: "for (;;);", Timeout: "200ms"},
			Want: "stopped: it took longer than 200ms\n...\nInternalError: interrupted\n  at line 1, column 1",
		}},
		Run: d.runJavascript,
	})
}

func (d Deps) runJavascript(ctx context.Context, in RunJavascriptIn) (RunJavascriptOut, error) {
	timeout, err := durations.Argument{Name: "timeout", Least: time.Millisecond, Most: javascriptTimeout}.Read(in.Timeout)
	if err != nil {
		return RunJavascriptOut{}, err
	}
	if !d.Scripts {
		return RunJavascriptOut{}, tools.Errorf(tools.Unavailable, "this process runs no scripts")
	}
	job := javascript.Job{Code: in.Code, Timeout: timeout, Whole: timeout, Memory: javascriptMemory}
	s := script{tool: "run_javascript",
		args: []string{"toolcrib", javascript.Argument},
		job: func(mark string) any {
			job.Mark = mark
			return job
		},
		limits: sandbox.Limits{Memory: javascriptSpace},
		silent: true, self: true,
	}
	box := &toolbox{caller: d.Caller}
	switch {
	case in.Tools && d.Caller == nil:
		return RunJavascriptOut{}, inner.Unavailable()
	case in.Tools && ctx.Value(insideKey{}) != nil:
		return RunJavascriptOut{}, tools.Errorf(tools.Denied, "a script that calls tools inside another").WithHint("call the tools from the outer script")
	case in.Tools:
		job.Tools, job.Whole, s.serve = true, javascriptWhole, box.serve
	}
	s.timeout = job.Whole + javascriptStart // the program stops the script
	r, err := d.run(ctx, s)
	if err != nil {
		return RunJavascriptOut{}, sandbox.Refused(err)
	}
	var report javascript.Report
	known := r.report != nil && json.Unmarshal(r.report, &report) == nil
	r.stopped = r.stopped || report.Timeout
	if r.stopped && r.took >= job.Whole {
		timeout = job.Whole
	}
	o := r.outcome(timeout)
	o.Value, o.Trace = clean([]byte(report.Value)), clean([]byte(report.Error))
	o.Notes = append(o.Notes, box.summary())
	if !in.Tools && strings.HasPrefix(report.Error, "ReferenceError: 'tools' is not defined") {
		o.Notes = append(o.Notes, "a script that is to call tools needs the argument tools: true")
	}
	switch {
	case r.stopped:
	case !known:
		o.Status = "crashed: " + o.Status
		o.Notes = append(o.Notes, "the engine did not survive this script; nothing else is affected")
	case report.Error != "":
		o.Status = "error in " + durations.Rough(r.took)
	}
	return RunJavascriptOut{o, box.made}, nil
}
