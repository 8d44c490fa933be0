package telemetry_test

import (
	"encoding/hex"
	"maps"
	"strings"
	"testing"

	"toolcrib/server/run"
	"toolcrib/server/telemetry"
)

func TestFromEnv(t *testing.T) {
	const endpoint, traces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for _, tc := range []struct {
		name string
		env  environ
		on   bool
		want string // in the error; "" = none
	}{
		{"nothing", environ{}, false, ""},
		{"no endpoint", environ{"OTEL_SERVICE_NAME": "x", "OTEL_TRACES_EXPORTER": "otlp"}, false, ""},
		{"endpoint", environ{endpoint: "http://localhost:4318"}, true, ""},
		{"one signal", environ{traces: "https://collector.example/x"}, true, ""},
		{"disabled", environ{endpoint: "http://localhost:4318", "OTEL_SDK_DISABLED": "TRUE"}, false, ""},
		{"none", environ{endpoint: "http://localhost:4318", "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"}, false, ""},
		{"another exporter", environ{traces: "http://localhost", "OTEL_TRACES_EXPORTER": "zipkin"}, false, "zipkin"},
		{"grpc", environ{traces: "http://localhost", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, "only http/protobuf"},
		{"grpc for others", environ{traces: "http://localhost", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}, true, ""},
		{"no URL", environ{endpoint: "localhost:4318/" + secret}, false, endpoint + " is no URL"},
		{"headers", environ{endpoint: "http://localhost", "OTEL_EXPORTER_OTLP_HEADERS": "a=b," + secret}, true, "entry 2"},
		{"header of two lines", environ{traces: "http://localhost", "OTEL_EXPORTER_OTLP_HEADERS": "a=" + secret + "%0d%0ab:c"}, false, "more than one line"},
		{"timeout", environ{endpoint: "http://localhost", "OTEL_EXPORTER_OTLP_TIMEOUT": "5s"}, true, "OTEL_EXPORTER_OTLP_TIMEOUT=5s"},
		{"compression", environ{endpoint: "http://localhost", "OTEL_EXPORTER_OTLP_COMPRESSION": "zstd"}, true, "zstd"},
		{"batch over queue", environ{endpoint: "http://localhost", "OTEL_BSP_MAX_QUEUE_SIZE": "10", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "11"}, true, "from 1 to 10"},
		{"ratio", environ{endpoint: "http://localhost", "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "NaN"}, true, "NaN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opt, err := telemetry.FromEnv(tc.env.get, "v1")
			if opt.On() != tc.on {
				t.Errorf("on: %v", opt.On())
			}
			if got := text(err); tc.want == "" && got != "" || !strings.Contains(got, tc.want) || strings.Contains(got, secret) {
				t.Errorf("error %q, want %q", got, tc.want)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestSampling has clients that continue a trace, sampled and not, and none.
func TestSampling(t *testing.T) {
	parent := func(flags string) run.Trace {
		return run.Trace{Parent: "00-" + clientTrace + "-" + clientSpan + "-" + flags}
	}
	const none = "-"
	for _, tc := range []struct {
		sampler, arg string
		trace        run.Trace
		want         string // the trace: the client's, a new one ("new") or none
	}{
		{"", "", parent("01"), clientTrace},
		{"", "", parent("00"), none},
		{"", "", parent("03"), clientTrace},
		{"", "", run.Trace{}, "new"},
		{"always_on", "", parent("00"), clientTrace},
		{"always_off", "", parent("01"), none},
		{"parentbased_always_off", "", parent("01"), clientTrace},
		{"parentbased_always_off", "", run.Trace{}, none},
		{"traceidratio", "0", parent("01"), none},
		{"traceidratio", "0.4", parent("01"), none}, // the lower 63 bits of the id are 0.516 of their range
		{"traceidratio", "0.6", parent("00"), clientTrace},
		{"parentbased_traceidratio", "0", parent("01"), clientTrace},
		{"", "", run.Trace{Parent: strings.ToUpper(parent("01").Parent)}, "new"},
		{"", "", run.Trace{Parent: parent("01").Parent + "-more"}, "new"},
		{"", "", run.Trace{Parent: "01" + parent("01").Parent[2:] + "-more"}, clientTrace},
		{"", "", run.Trace{Parent: "01" + parent("01").Parent[2:] + "more"}, "new"},
		{"", "", run.Trace{Parent: "ff" + parent("01").Parent[2:]}, "new"},
		{"", "", run.Trace{Parent: "00-" + strings.Repeat("0", 32) + "-" + clientSpan + "-01"}, "new"},
		{"", "", run.Trace{Parent: "00-" + clientTrace + "-" + strings.Repeat("0", 16) + "-01"}, "new"},
		{"", "", run.Trace{Parent: "00-" + strings.Repeat("g", 32) + "-" + clientSpan + "-01"}, "new"},
	} {
		t.Run(tc.sampler+" "+tc.arg+" "+tc.trace.Parent, func(t *testing.T) {
			c := collect(t)
			env := environ{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.URL + "/v1/traces"}
			maps.Copy(env, environ{"OTEL_TRACES_SAMPLER": tc.sampler, "OTEL_TRACES_SAMPLER_ARG": tc.arg})
			exported(t, env, func(r *run.Runner) { call(t, r, "toy", `{}`, tc.trace) })
			spans, _ := spansOf(t, c)
			got := none
			if len(spans) > 0 {
				if got = hex.EncodeToString(spans[0].TraceId); got != clientTrace {
					got = "new"
				}
			}
			if got != tc.want {
				t.Errorf("trace %s, want %s", got, tc.want)
			}
		})
	}
}
