package command_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/shell/internal/command"
)

// said words what a line does.
func said(line command.Line) string {
	var b strings.Builder
	for _, c := range line.Commands {
		b.WriteString(c.String())
		for _, w := range c.Words {
			if w.Kind != tools.Known {
				fmt.Fprintf(&b, " ?%d", w.Kind)
			}
		}
		for _, t := range c.Touches {
			b.WriteString(map[bool]string{true: " >", false: " <"}[t.Write] + t.Path)
		}
		if c.Hides != "" {
			b.WriteString(" !")
		}
		b.WriteByte('\n')
	}
	for _, t := range line.Touches {
		b.WriteString(map[bool]string{true: ">", false: "<"}[t.Write] + t.Path + "\n")
	}
	if line.Unknown != "" {
		b.WriteString("unknown: " + line.Unknown + "\n")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for _, tc := range []struct{ dir, line, want string }{
		{"", "ls -l 'a b'", "ls -l 'a b' <a b\n"},
		{"sub", "cat x > y", "cat x >sub/y <sub/x\n"},
		{"", "cd a && cp b c", "cd a <a\ncp b c <a/b >a/c\n"},
		{"", "cd a; rm b", "cd a <a\nrm b >b >a/b\n"},
		{"", `cd "$x"; rm b`, "cd \"$x\" ?1\nrm b\n"},
		{"", "(cd a); rm b", "cd a <a\nrm b >b\n"},
		{"", "xargs -n 1 rm -f", "xargs -n 1 rm -f\nrm -f ... ?2\n"},
		{"", "find d -name x -exec grep y {} +", "find d -name x -exec grep y '{}' + <d\ngrep y {} ?1\n"},
		{"", "mv -t d a b", "mv -t d a b >d >a >b\n"},
		{"", "sed -i.bak s/a/b/ f", "sed -i.bak s/a/b/ f >f\n"},
		{"", "dd if=a of=b", "dd if=a of=b <a >b\n"},
		{"", "tee -a a b", "tee -a a b >a >b\n"},
		{"", "{ ls; } > x", "ls\n>x\n"},
		{"", "git clone u", "git clone u\n"},
		{"", "echo x > /dev/tcp/h/80", "echo x\n"},
		{"", "env A=1 B=2 make", "env A=1 B=2 make\nmake\n"},
		{"", "(((", "unknown: it cannot be parsed (1:3: `(` must be followed by an expression)\n"},
		{"", "", ""},
		{"", "# rm", ""},
	} {
		got := said(command.Parse(tc.line, command.Location{Dir: tc.dir}))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.line, diff)
		}
	}
}

// Whatever the line, it is looked through in bounded time, with a bounded stack.
func TestBounds(t *testing.T) {
	tooltest.Unraced(t)
	many := strings.Repeat
	for name, line := range map[string]string{
		"parentheses":   many("(", 1<<20),
		"closed":        many("(", 5000) + "rm x" + many(")", 5000),
		"braces":        many("{ ", 200000),
		"substitutions": many("$(", 300000),
		"quoted":        many(`"$(`, 200000),
		"backquotes":    many("`", 1<<19),
		"escaped":       many("\\`", 1<<19),
		"parameters":    many("${x:-", 200000),
		"expansions":    "echo " + many("{a,b}", 1000),
		"nested braces": "echo " + many("{a,", 20000) + many("}", 20000),
		"sequence":      "echo {1..1000000000}",
		"arithmetic":    "echo $((" + many("(", 300000),
		"minus":         "echo $((" + many("- ", 300000) + "1))",
		"sum":           "echo $((1" + many("+1", 300000) + "))",
		"choice":        "echo $((" + many("1?", 200000),
		"power":         "echo $((" + many("2**", 200000) + "1))",
		"and":           "a" + many("&&a", 300000),
		"pipe":          "a" + many("|a", 300000),
		"not":           many("! ", 300000) + "a",
		"time":          many("time ", 200000) + "a",
		"if":            many("if ", 300000),
		"while":         many("while ", 150000),
		"case":          many("case x in x) ", 70000),
		"function":      many("f() ", 200000) + "a",
		"coproc":        many("coproc ", 100000) + "a",
		"test":          "[[ " + many("! ", 300000) + "a ]]",
		"test and":      "[[ a" + many(" && a", 100000) + " ]]",
		"here":          many("cat <<E\n", 100000),
		"here on one":   many("<<E ", 200000) + "\n",
		"eval":          many("eval ", 200000) + "a",
		"env":           many("env ", 200000) + "a",
		"sh":            many("sh -c '", 1) + many(`sh -c \"`, 1000) + "'",
		"words":         "ls " + many("x ", 400000),
		"commands":      many("ls;", 300000),
		"array":         "a=(" + many("x ", 400000) + ")",
		"blanks":        many(" ", 1<<20),
		"newlines":      many("\n", 1<<20),
		"too long":      "ls " + many("x", 2<<20),
		"extended":      many("@(", 200000),
		"process":       many("<(", 200000),
	} {
		start := time.Now()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		command.Parse(line, command.Location{})
		runtime.ReadMemStats(&after)
		if took := time.Since(start); took > time.Minute { // far above what it takes beside other work
			t.Errorf("%s: %v", name, took)
		}
		if stack := int64(after.StackSys) - int64(before.StackSys); stack > 64<<20 {
			t.Errorf("%s: %d MB of stack", name, stack>>20)
		}
	}
}

// Nothing of the parser comes after what is wrong, or one command too many.
func TestParseStops(t *testing.T) {
	for _, end := range []string{"s&wai\xa9", "wai\xa9", "cat <<E", "cat <<E\nx", "cat <<E; a", "$(", "a\n)"} {
		for _, n := range []int{0, 398, 399, 400, 401, 402, 1000} {
			if line := command.Parse(strings.Repeat("a\n", n)+end, command.Location{}); line.Unknown == "" && end != "cat <<E; a" {
				t.Errorf("%d and %q: %+v", n, end, line)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("../../testdata/verdicts.txt")
	if err != nil {
		f.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		_, line, _ := strings.Cut(strings.TrimSpace(text), " ")
		line = strings.TrimLeft(line, " ")
		if unquoted, err := strconv.Unquote(line); err == nil {
			line = unquoted
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		start := time.Now()
		read := command.Parse(line, command.Location{})
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("%v", took)
		}
		for _, c := range read.Commands {
			if len(c.Words) == 0 || c.String() == "" {
				t.Errorf("a command without words: %+v", c)
			}
		}
	})
}
