package tasks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"toolcrib/.ci/measure/harness"
)

const runTests = "python3 -m unittest -q"

// run runs a command by bash.
func (p *player) run(command string) string { return p.call("bash", args("command", command)) }

// start runs a command by start_process, which often answers before it has the output: then
// that is read. It may lose the output of a command that ends at once; a repetition for that
// is not counted. quiet says that there is no output.
func (p *player) start(command string, quiet ...bool) {
	begin := args("command", "cd "+p.dir+" && "+command, "timeout_ms", 30_000)
	for range 9 {
		started := p.try("start_process", begin)
		if _, output, _ := strings.Cut(started, "Initial output:"); strings.TrimSpace(output) != "" || len(quiet) > 0 {
			p.count(begin, started)
			return
		}
		read := args("pid", pidOf(started))
		if text := p.try("read_process_output", read); !strings.Contains(text, "(No output in requested range)") {
			p.count(begin, started)
			p.count(read, text)
			return
		}
	}
	p.err = fmt.Errorf("%s: no output", command)
}

// args are arguments, name and value in turn.
func args(pairs ...any) map[string]any {
	all := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i].(string)] = pairs[i+1]
	}
	return all
}

// allTasks are the tasks in the order of the report.
func allTasks(ctx context.Context) []task {
	return []task{
		{
			name:  "repair a bug that a user describes",
			files: with("shop/text.py", `sign = "-" if cents < 0 else ""`, `sign = ""`),
			ours: func(p *player) {
				p.call("grep", args("pattern", "def money", "after", 6))
				p.call("edit_file", args("path", "shop/text.py", "edits", []any{args("old_text", `sign = ""`, "new_text", `sign = "-" if cents < 0 else ""`)}))
				p.run(runTests)
			},
			theirs: func(p *player) {
				p.search("pattern", "def money", "searchType", "content")
				p.call("edit_block", args("file_path", p.at("shop/text.py"), "old_string", `sign = ""`, "new_string", `sign = "-" if cents < 0 else ""`))
				p.start(runTests)
			},
			reached: func(p *player) error { return p.passes(ctx) },
		},
		{
			name:  "rename a symbol in 17 files",
			files: with(""),
			ours: func(p *player) {
				p.call("grep", args("pattern", "load_config", "mode", "count"))
				p.run("grep -rl --include='*.py' load_config . | xargs sed -i 's/\\bload_config\\b/read_config/g'")
				p.call("grep", args("pattern", "load_config", "mode", "files"))
			},
			theirs: func(p *player) {
				p.search("pattern", "load_config", "searchType", "content", "contextLines", 0)
				p.start("grep -rl --include='*.py' load_config . | xargs sed -i 's/\\bload_config\\b/read_config/g'", true)
				p.search("pattern", "load_config", "searchType", "content", "contextLines", 0)
			},
			reached: func(p *player) error {
				return errors.Join(p.has("shop/config.py", "def read_config("), p.has("shop/pages/page00.py", "config = read_config()"),
					p.has("shop/pages/page15.py", "import read_config"), p.lacks("load_config"))
			},
		},
		{
			name:  "sum up a table and plot it",
			files: sales,
			ours: func(p *player) {
				p.call("bash", args("command", "head -4 sales.csv; wc -l sales.csv"))
				p.call("run_python", args("code", plot))
			},
			theirs: theirPlot,
			reached: func(p *player) error {
				return errors.Join(p.has("cities.svg", "<svg"), p.said("Bonn", fmt.Sprint(revenue("Bonn"))))
			},
		},
		{
			name:  "start a server and look at it",
			files: with(""),
			ours: func(p *player) {
				port := p.port()
				started := p.call("bash", args("command", "python3 -m http.server "+port, "background", true))
				p.run("curl -s --retry 9 --retry-connrefused http://127.0.0.1:" + port + "/shop.ini")
				p.call("job_stop", args("job", jobOf(started)))
			},
			theirs: func(p *player) {
				port := p.port()
				started := p.call("start_process", args("command", "cd "+p.dir+" && python3 -m http.server "+port, "timeout_ms", 2000))
				p.start("curl -s --retry 9 --retry-connrefused http://127.0.0.1:" + port + "/shop.ini")
				p.call("force_terminate", args("pid", pidOf(started)))
			},
			reached: func(p *player) error { return p.said("currency = EUR") },
		},
		{
			name: "ten questions on 10,000 files", files: many,
			ours: ourQuestions, theirs: theirQuestions, reached: answered,
		},
		{
			name:  "find and fix a test that fails",
			files: with("shop/stats.py", "ordered[middle - 1] + ordered[middle]", "ordered[middle] + ordered[-1]"),
			ours: func(p *player) {
				p.run(runTests)
				p.call("grep", args("pattern", "def median", "after", 9))
				p.call("edit_file", args("path", "shop/stats.py", "edits", []any{args("old_text", "ordered[middle] + ordered[-1]", "new_text", "ordered[middle - 1] + ordered[middle]")}))
				p.run(runTests)
			},
			theirs: func(p *player) {
				p.start(runTests)
				p.call("read_file", args("path", p.at("shop/stats.py")))
				p.call("edit_block", args("file_path", p.at("shop/stats.py"), "old_string", "ordered[middle] + ordered[-1]", "new_string", "ordered[middle - 1] + ordered[middle]"))
				p.start(runTests)
			},
			reached: func(p *player) error { return p.passes(ctx) },
		},
		{
			name:  "find out from a long log what failed first",
			files: logged,
			ours: func(p *player) {
				p.call("grep", args("pattern", " ERROR ", "path", "logs/server.log", "context", 2, "limit", 2))
				p.run(countErrors)
			},
			theirs: func(p *player) {
				p.search("path", p.at("logs/server.log"), "pattern", " ERROR .*", "searchType", "content", "maxResults", 2)
				p.start(countErrors)
			},
			reached: func(p *player) error { return p.said("connection to db-2 lost", "17 orders", "1 pool") },
		},
		{
			name:  "move a module and mend what imports it",
			files: with(""),
			ours: func(p *player) {
				p.call("grep", args("pattern", "import text"))
				p.run(moveModule)
			},
			theirs: func(p *player) {
				p.search("pattern", "import text", "searchType", "content")
				p.start(moveModule)
			},
			reached: func(p *player) error {
				return errors.Join(p.has("shop/receipts/text.py", "def money"), p.has("tests/test_text.py", "from shop.receipts import text"), p.passes(ctx))
			},
		},
		{
			name:  "undo a mistake",
			files: with(""),
			ours: func(p *player) {
				p.run(mistake)
				p.call("restore_file", args("undo", true))
			},
			theirs: func(p *player) {
				p.call("read_file", args("path", p.at("shop/stats.py"))) // only what was read can be written back
				p.start(mistake, true)
				p.call("write_file", args("path", p.at("shop/stats.py"), "content", shop()["shop/stats.py"], "mode", "rewrite"))
			},
			reached: func(p *player) error {
				return errors.Join(p.has("shop/stats.py", shop()["shop/stats.py"]), p.passes(ctx))
			},
		},
		{
			name:  "write a script and run it",
			files: with(""),
			ours: func(p *player) {
				p.call("write_file", args("path", "count_pages.py", "content", script))
				p.run("python3 count_pages.py")
			},
			theirs: func(p *player) {
				p.call("write_file", args("path", p.at("count_pages.py"), "content", script, "mode", "rewrite"))
				p.start("python3 count_pages.py")
			},
			reached: func(p *player) error {
				return errors.Join(p.has("count_pages.py", script), p.said("16 pages, 192 lines"))
			},
		},
	}
}

const (
	countErrors = "grep -o 'ERROR [a-z]*' logs/server.log | sort | uniq -c | awk '{print $1, $3}' | sed 's/:$//'"
	moveModule  = "mkdir shop/receipts && touch shop/receipts/__init__.py && mv shop/text.py shop/receipts/ && sed -i 's/from shop import text/from shop.receipts import text/' tests/test_text.py && " + runTests
	mistake     = "sed -i 's/values/orders/; s/return/yield/' shop/stats.py"
	script      = `"""Counts the pages and their lines."""

import pathlib

pages = sorted(pathlib.Path("shop/pages").glob("page*.py"))
lines = sum(len(page.read_text().splitlines()) for page in pages)
print(f"{len(pages)} pages, {lines} lines")
`
	plot = `import csv, collections
sums = collections.Counter()
for row in csv.DictReader(open("sales.csv")):
    sums[row["city"]] += int(row["cents"])
print(sums)
bars = "".join(f'<rect x="{i*60}" y="{200-v*200//max(sums.values())}" width="50" height="{v*200//max(sums.values())}"/><text x="{i*60}" y="215">{c}</text>' for i, (c, v) in enumerate(sorted(sums.items())))
open("cities.svg", "w").write(f'<svg xmlns="http://www.w3.org/2000/svg" width="240" height="220">{bars}</svg>')
`
)

// theirPlot is what the documents of DesktopCommander say of the analysis of data: an
// interpreter that is started once and given the code.
func theirPlot(p *player) {
	p.call("read_file", args("path", p.at("sales.csv"), "length", 4))
	started := p.call("start_process", args("command", "cd "+p.dir+" && python3 -i", "timeout_ms", 5000))
	p.call("interact_with_process", args("pid", pidOf(started), "input", "exec("+strconv.Quote(plot)+")", "timeout_ms", 10_000))
	p.call("force_terminate", args("pid", pidOf(started)))
}

func revenue(city string) (cents int) {
	for line := range strings.SplitSeq(sales(harness.Environment{})["sales.csv"], "\n") {
		if fields := strings.Split(line, ","); len(fields) == 5 && fields[1] == city {
			n, _ := strconv.Atoi(fields[4]) // digits
			cents += n
		}
	}
	return cents
}

var (
	job = regexp.MustCompile(`job ([a-z0-9-]+)`)
	pid = regexp.MustCompile(`PID (\d+)`)
)

// jobOf is the job that a result names.
func jobOf(text string) string {
	if m := job.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// port is one of this machine that nothing listens at.
func (p *player) port() string {
	port, err := harness.FreePort()
	p.err = err
	return port
}

func pidOf(text string) int {
	if m := pid.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits
		return n
	}
	return 0
}

// lacks checks that no file of the shop has a text.
func (p *player) lacks(text string) error {
	for name := range shop() {
		if data, err := os.ReadFile(p.at(name)); err == nil && strings.Contains(string(data), text) {
			return fmt.Errorf("%s has still %q", name, text)
		}
	}
	return nil
}
