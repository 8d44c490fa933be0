package code

import (
	"context"
	_ "embed"
	"encoding/json"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/secrets"
)

//go:embed run_python.md
var runPythonDoc string

//go:embed runner.py
var runner string

const pythonTimeout = 5 * time.Minute // the longest that can be asked for

// RunPythonIn says what to run.
type RunPythonIn struct {
	Code    string `json:"code" jsonschema:"minLength=1,maxLength=1000000" jsonschema_description:"Python script; its last expression is shown." alias:"script,source,python"`
	Timeout string `json:"timeout,omitempty" unit:"s,ms" jsonschema:"default=10s,maxLength=20" jsonschema_description:"Stop it after, such as \"30s\"; at most 5m."`
	Network bool   `json:"network,omitempty" jsonschema:"default=false" jsonschema_description:"Let it reach the network; the user may be asked."`
}

// RunPythonOut is the result of the script.
type RunPythonOut struct{ outcome }

// Trim implements [tools.Trimmer].
func (o RunPythonOut) Trim(budget int) RunPythonOut { return RunPythonOut{o.trimmed(budget)} }

func runPythonTool(d Deps) tools.Tool {
	return tools.New(tools.Def[RunPythonIn, RunPythonOut]{
		Name: "run_python", Title: "Run Python", Doc: runPythonDoc, Tags: []string{"code", "run", "script", "numpy"},
		Spellings: fenced(),
		Aliases:   []string{"execute_python", "python_executor"},
		Access:    tools.Exec, Effects: tools.Workspace | tools.Process | tools.Network | tools.Destroys,
		Streams: true, Timeout: pythonTimeout + 30*time.Second,
		Needs:  []tools.Need{{Binaries: systemPythons, How: howPython}},
		Limits: tools.Limits{Facts: map[string]any{"memory": pythonMemory >> 20}},
		Plan:   func(_ context.Context, in RunPythonIn) (tools.Plan, error) { return planOf(in.Code, in.Network), nil },
		Redact: func(_ context.Context, in RunPythonIn) RunPythonIn {
			in.Code = secrets.Code(in.Code)
			return in
		},
		Examples: []tools.Example[RunPythonIn]{{
			Say:   "The value of the last expression is shown, and what is printed.",
			Files: map[string]string{"data.csv": "city,people\nUlm,126949\nBonn,335789\n"},
			In:    RunPythonIn{Code: "import csv\nrows = list(csv.DictReader(open('data.csv')))\nprint(len(rows), 'rows')\nsum(int(r['people']) for r in rows)"},
			Want:  "ok in …\n...\nvalue: 462738\n\n2 rows",
		}, {
			Say: "A traceback has the lines of the script.",
			In:  RunPythonIn{Code: "import json\n\ndef parse(text):\n    return json.loads(text)\n\nparse('{')"},
			Want: "exit 1 in …\n...\nTraceback (most recent call last):\n  File \"<script>\", line 6, in <module>\n...\n  File \"<script>\", line 4, in parse\n...\n" +
				"json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
		}, {
			Say:   "Files that it makes are listed.",
			In:    RunPythonIn{Code: "with open('squares.txt', 'w') as f:\n    for i in range(3):\n        print(i * i, file=f)", Timeout: "20s"},
			Want:  "ok in …\n...\nfiles: created squares.txt",
			After: map[string]string{"squares.txt": "0\n1\n4\n"},
		}},
		Run: d.runPython,
	})
}

func (d Deps) runPython(ctx context.Context, in RunPythonIn) (RunPythonOut, error) {
	timeout, err := durations.Argument{Name: "timeout", Least: time.Millisecond, Most: pythonTimeout}.Read(in.Timeout)
	if err != nil {
		return RunPythonOut{}, err
	}
	if in.Network {
		if err := d.Sandbox.AskHosts(ctx); err != nil {
			return RunPythonOut{}, err
		}
	}
	interpreter, err := d.find(ctx)
	if err != nil {
		return RunPythonOut{}, err
	}
	r, err := d.run(ctx, script{tool: "run_python",
		args: pythonArgs(interpreter, runner),
		job: func(mark string) any {
			return map[string]any{"Mark": mark, "Code": in.Code, "Most": shownText}
		},
		timeout: timeout, network: in.Network, limits: sandbox.Limits{Memory: pythonMemory},
	})
	if err != nil {
		return RunPythonOut{}, sandbox.Refused(err)
	}
	o := r.outcome(timeout)
	o.Files = true
	var report pythonReport
	if r.report != nil && json.Unmarshal(r.report, &report) == nil {
		o.Value, o.Trace = clean([]byte(report.Value)), clean([]byte(report.Error))
		o.Notes = append(o.Notes, hint(report, in.Network, r.within))
	}
	r.files.Note(ctx)
	return RunPythonOut{o}, nil
}
