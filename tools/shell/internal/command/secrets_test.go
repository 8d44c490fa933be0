package command_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/shell/internal/command"
)

// secretLines are lines with their secrets between ‹ and ›.
func secretLines(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			list = append(list, strings.NewReplacer(`⏎`, "\n").Replace(line))
		}
	}
	return list
}

func TestRedacted(t *testing.T) {
	for _, marked := range secretLines(t) {
		line := strings.NewReplacer("‹", "", "›", "").Replace(marked)
		want := marked
		for {
			before, rest, ok := strings.Cut(want, "‹")
			if !ok {
				break
			}
			_, after, _ := strings.Cut(rest, "›")
			want = before + "[redacted]" + after
		}
		if got := command.Redacted(line); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
		if strings.Contains(marked, "‹") && strings.Contains(command.Redacted(line+" '"), "hunter2") { // which no shell takes
			t.Errorf("not parsed: %s", command.Redacted(line+" '"))
		}
	}
}

// A line that was made to take long takes time that grows with its length, and no faster: of
// four times the length at most twelve times the time. A busy machine makes times longer, so
// the shortest of up to eight tries counts.
func TestRedactedInTime(t *testing.T) {
	tooltest.Unraced(t)
	took := func(line string) time.Duration {
		begin := time.Now()
		command.Redacted(line)
		return time.Since(begin)
	}
	grows := func(name, less, more string) {
		short, long := took(less), took(more)
		for try := 1; try < 8 && long > 100*time.Millisecond && long > 12*short; try++ {
			short, long = min(short, took(less)), min(long, took(more))
		}
		t.Logf("%s takes %v, the shorter line %v", name, long, short)
		if long > 100*time.Millisecond && long > 12*short {
			t.Errorf("%s takes %v, the shorter line %v", name, long, short)
		}
	}
	for _, l := range []struct {
		before, unit, after string
		n                   int
	}{
		{unit: "A=", n: 40_000}, {unit: "password=", n: 10_000}, {unit: "curl -u ", n: 10_000}, {unit: "echo a | ", n: 10_000, after: "sudo -S"},
		{unit: "'a b=c' ", n: 10_000}, {unit: "(", n: 90_000}, {before: "cat <<X\n", unit: "a b=c\n", n: 15_000, after: "X\n"},
		{unit: "'", n: 99_996}, {unit: "mysql ", n: 15_000}, {unit: "x://", n: 25_000}, {unit: "login password ", n: 6_000},
	} {
		line := func(n int) string { return l.before + strings.Repeat(l.unit, n) + l.after }
		grows(fmt.Sprintf("%.30q", line(l.n)), line(l.n/4), line(l.n))
	}
	deep := func(levels int) string { return strings.Repeat(`"$(echo `, levels) + strings.Repeat(`)"`, levels) }
	grows("180 levels", deep(90), deep(180))
}

func FuzzRedacted(f *testing.F) {
	f.Add(`echo "$(mysql -phunter2)" | sudo -S id <<< x`)
	f.Add("cat <<A\n$X `b` ${c:-d}\nA\n")
	f.Fuzz(func(_ *testing.T, line string) { command.Redacted(line) })
}

func BenchmarkRedacted(b *testing.B) {
	for b.Loop() {
		command.Redacted("cd sub && GOFLAGS=-mod=mod go test ./... -run 'Test(A|B)' -count=1 2>&1 | tail -50; git status --short")
	}
}
