package sandbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/sandbox"
)

func TestReportInWords(t *testing.T) {
	for _, tc := range []struct {
		report sandbox.Report
		want   string
		meta   map[string]any
	}{
		{report: sandbox.Report{}},
		{
			report: sandbox.Report{Level: sandbox.Full, Network: "off", Open: "x"},
			meta:   map[string]any{"level": "full", "network": "off"},
		},
		{
			report: sandbox.Report{Level: sandbox.None, Network: "on"}, want: "sandbox: none, network on",
			meta: map[string]any{"level": "none", "network": "on"},
		},
		{
			report: sandbox.Report{Level: sandbox.Landlock, Network: "off", Open: "x"}, want: "sandbox: landlock, network off; it does not keep programs from x",
			meta: map[string]any{"level": "landlock", "network": "off"},
		},
		{
			report: sandbox.Report{Level: sandbox.Full, Network: "off", Open: "x", Countless: true}, want: "sandbox: full, network off, any number of processes",
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
