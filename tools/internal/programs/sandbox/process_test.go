package sandbox_test

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/programs/sandbox"
)

func TestReportInWords(t *testing.T) {
	for _, tc := range []struct {
		report sandbox.Report
		want   string
		meta   map[string]any
	}{
		{report: sandbox.Report{}},
		{
			report: sandbox.Report{Level: sandbox.Full, Network: "off", NotDenied: "x"},
			meta:   map[string]any{"level": "full", "network": "off"},
		},
		{
			report: sandbox.Report{Level: sandbox.None, Network: "on"}, want: "sandbox: none, network on",
			meta: map[string]any{"level": "none", "network": "on"},
		},
		{
			report: sandbox.Report{Level: sandbox.Landlock, Network: "off", NotDenied: "x"}, want: "sandbox: landlock, network off; it does not keep programs from x",
			meta: map[string]any{"level": "landlock", "network": "off"},
		},
		{
			report: sandbox.Report{Level: sandbox.Full, Network: "off", NotDenied: "x", Countless: true}, want: "sandbox: full, network off, any number of processes",
			meta: map[string]any{"level": "full", "network": "off"},
		},
		{
			report: sandbox.Report{Level: sandbox.Landlock, Network: "off", Countless: true}, want: "sandbox: landlock, network off, any number of processes",
			meta: map[string]any{"level": "landlock", "network": "off"},
		},
		{
			report: sandbox.Report{Level: sandbox.None, Network: "on", Countless: true}, want: "sandbox: none, network on",
			meta: map[string]any{"level": "none", "network": "on"},
		},
	} {
		if got := tc.report.Warning(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
		var want map[string]any
		if tc.meta != nil {
			want = map[string]any{"toolcrib/sandbox": tc.meta}
		}
		if diff := cmp.Diff(want, tc.report.Meta()); diff != "" {
			t.Errorf("%+v: %s", tc.report, diff)
		}
	}
}

func TestOrphansInWords(t *testing.T) {
	for n, want := range map[int]string{
		0: "", 1: "1 process that it left behind was ended with it", 2: "2 processes that it left behind were ended with it",
	} {
		if got := (sandbox.Exit{Left: n}).Orphans(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTouchedInWords(t *testing.T) {
	for _, tc := range []struct {
		touched sandbox.Touched
		want    string
	}{
		{sandbox.Touched{}, ""},
		{sandbox.Touched{Gone: []string{".git"}}, "deleted or moved away meanwhile: .git, which no history of this server has: tell the user"},
		{sandbox.Touched{Gone: []string{".git"}, Partly: true}, "deleted or moved away meanwhile: .git, which no history of this server has: tell the user; what is protected of a repository is still there"},
		{sandbox.Touched{Made: []string{".mcp.json"}, Swapped: []string{"a/.git"}}, "made meanwhile: .mcp.json; programs of the user follow it: tell the user before anything else is done\n" +
			"replaced meanwhile: a/.git; programs of the user obey the new files: tell the user before anything else is done"},
		{sandbox.Touched{Swapped: []string{"a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", "a/8", "b"}}, "replaced meanwhile: a/ (8 places), b; programs of the user obey the new files: tell the user before anything else is done"},
	} {
		if got := tc.touched.Warning(); got != tc.want {
			t.Errorf("%+v: %q", tc.touched, got)
		}
	}
}

// Where the options have no level, it is that of the system: nothing contains programs on Windows,
// and what they may do is judged by that.
func TestUnsetLevel(t *testing.T) {
	want := map[string]sandbox.Level{"linux": sandbox.Full, "darwin": sandbox.Landlock, "windows": sandbox.None}[runtime.GOOS]
	if got := sandbox.New().Level(); want != 0 && got != want {
		t.Errorf("%d, want %s", got, want)
	}
}
