package telemetry_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectmetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	collecttrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"toolcrib/server/run"
)

const clientTrace, clientSpan = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

// spansOf decodes what a collector has taken, with the types of the protocol.
func spansOf(t *testing.T, c *collector) (spans []*trace.Span, resource map[string]string) {
	t.Helper()
	for _, body := range c.taken("/v1/traces") {
		var req collecttrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &req); err != nil {
			t.Fatal(err)
		}
		for _, rs := range req.ResourceSpans {
			resource = attributes(rs.Resource.Attributes)
			for _, ss := range rs.ScopeSpans {
				spans = append(spans, ss.Spans...)
			}
		}
		if unknown := req.ProtoReflect().GetUnknown(); len(unknown) > 0 {
			t.Errorf("fields that the protocol does not know: %x", unknown)
		}
	}
	return spans, resource
}

func attributes(list []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		m[kv.Key] = kv.Value.GetStringValue()
	}
	return m
}

func TestTraces(t *testing.T) {
	c := collect(t)
	exported(t, environ{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=" + secret + "%20x",
		"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test,service.name=other", "OTEL_SERVICE_NAME": "crib",
		"OTEL_METRICS_EXPORTER": "none",
	}, func(r *run.Runner) {
		call(t, r, "toy", `{"path":"`+secret+`","fail":true}`, run.Trace{Parent: "00-" + clientTrace + "-" + clientSpan + "-01", State: "vendor=1"})
		call(t, r, secret, `{}`, run.Trace{})
	})
	if got := c.header.Get("Api-Key"); got != secret+" x" {
		t.Errorf("the header came as %q", got)
	}
	if len(c.taken("/v1/metrics")) > 0 {
		t.Error("metrics came although they are off")
	}
	spans, resource := spansOf(t, c)
	if resource["service.name"] != "crib" || resource["deployment.environment.name"] != "test" || resource["service.version"] != "v1" {
		t.Errorf("resource %v", resource)
	}
	var got []string
	ids := map[string]string{clientSpan: "client"}
	for _, s := range spans {
		ids[hex.EncodeToString(s.SpanId)] = s.Name
	}
	for _, s := range spans {
		a := attributes(s.Attributes)
		ours := hex.EncodeToString(s.TraceId) == clientTrace
		got = append(got, fmt.Sprintf("%s in %q, %v, client's trace %v, state %q, %v, %s %s %s %s", s.Name, ids[hex.EncodeToString(s.ParentSpanId)],
			s.Kind, ours, s.TraceState, s.Status.GetCode(), a["mcp.method.name"], a["gen_ai.tool.name"], a["error.type"], a["toolcrib.outcome"]))
		if s.EndTimeUnixNano < s.StartTimeUnixNano || s.StartTimeUnixNano == 0 {
			t.Errorf("%s lasts from %d to %d", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano)
		}
	}
	want := []string{
		`attempt 1 in "tools/call toy", SPAN_KIND_INTERNAL, client's trace true, state "vendor=1", STATUS_CODE_ERROR,  toy conflict conflict`,
		`tools/call toy in "client", SPAN_KIND_SERVER, client's trace true, state "vendor=1", STATUS_CODE_ERROR, tools/call toy tool_error conflict`,
		`tools/call unknown in "", SPAN_KIND_SERVER, client's trace false, state "", STATUS_CODE_ERROR, tools/call unknown tool_error not_found`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	for _, body := range c.taken("/v1/traces") {
		if bytes.Contains(body, []byte(secret)) {
			t.Error("a span has what a caller wrote")
		}
	}
}

func TestMetricsExport(t *testing.T) {
	c := collect(t)
	exported(t, environ{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": c.URL + "/mine"}, func(r *run.Runner) {
		call(t, r, "toy", `{"path":"`+secret+`"}`, run.Trace{})
		call(t, r, "toy", `{"path":"`+secret+`","fail":true}`, run.Trace{})
		call(t, r, secret, `{}`, run.Trace{})
	})
	bodies := c.taken("/mine")
	if len(bodies) != 1 || bytes.Contains(bodies[0], []byte(secret)) {
		t.Fatalf("%d requests came, or they have what a caller wrote", len(bodies))
	}
	var req collectmetrics.ExportMetricsServiceRequest
	if err := proto.Unmarshal(bodies[0], &req); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range req.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		switch m.Name {
		case "toolcrib.calls":
			s := m.GetSum()
			if !s.IsMonotonic || s.AggregationTemporality != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
				t.Errorf("%s is no counter: %v", m.Name, s)
			}
			for _, p := range s.DataPoints {
				a := attributes(p.Attributes)
				got = append(got, fmt.Sprint(a["tool"], " ", a["outcome"], " ", p.GetAsDouble()))
			}
		case "mcp.server.operation.duration":
			for _, p := range m.GetHistogram().DataPoints {
				var count uint64
				for _, n := range p.BucketCounts {
					count += n
				}
				if count != p.Count || len(p.BucketCounts) != len(p.ExplicitBounds)+1 || !slices.IsSorted(p.ExplicitBounds) || p.GetSum() <= 0 {
					t.Errorf("buckets %v", p)
				}
				got = append(got, fmt.Sprint(attributes(p.Attributes)["tool"], " took ", p.Count))
			}
		case "go.goroutine.count":
			if m.GetGauge().DataPoints[0].GetAsDouble() < 1 {
				t.Errorf("%v", m)
			}
		}
	}
	want := []string{"unknown ok 0", "unknown not_found 1", "toy ok 1", "toy conflict 1", "unknown took 1", "toy took 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// TestLosses has collectors that do not take everything.
func TestLosses(t *testing.T) {
	c, again := collect(t), make(chan struct{})
	c.answer = func(w http.ResponseWriter, _ *http.Request) { // the first is to come again
		switch len(c.taken("/v1/traces")) {
		case 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			close(again)
		}
	}
	env := environ{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.URL + "/v1/traces", "OTEL_EXPORTER_OTLP_HEADERS": "key=" + secret}
	one := func(r *run.Runner) { call(t, r, "toy", `{}`, run.Trace{}) }
	env["OTEL_BSP_SCHEDULE_DELAY"] = "1"
	if log := exported(t, env, func(r *run.Runner) {
		one(r)
		<-again
	}); log != "" {
		t.Errorf("logged %q", log)
	}
	// The two spans of a call can come in two requests; what was taken does not come again.
	if got := c.taken("/v1/traces"); len(got) > 3 || !bytes.Equal(got[0], got[1]) || len(got) == 3 && bytes.Equal(got[1], got[2]) {
		t.Errorf("%d requests came: %q", len(got), got)
	}
	c.answer = func(w http.ResponseWriter, _ *http.Request) {
		http.Redirect(w, new(http.Request), "http://elsewhere.invalid/"+secret, http.StatusTemporaryRedirect)
	}
	if log := exported(t, env, one); !strings.Contains(log, "answers 307") || strings.Contains(log, secret) {
		t.Errorf("logged %q", log)
	}
	env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = "http://user:" + secret + "@127.0.0.1:1/" + secret
	begin := time.Now()
	if log := exported(t, env, one); !strings.Contains(log, "does not reach the collector") || strings.Contains(log, secret) {
		t.Errorf("logged %q", log)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("the end took %v where nobody listens", took)
	}
}

// TestPassword sends the name and the password of an endpoint as net/http does.
func TestPassword(t *testing.T) {
	c := collect(t)
	env := environ{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": strings.Replace(c.URL, "://", "://user:pass%20word@", 1) + "/v1/traces"}
	exported(t, env, func(r *run.Runner) { call(t, r, "toy", `{}`, run.Trace{}) })
	r := http.Request{Header: c.header}
	if user, password, _ := r.BasicAuth(); user != "user" || password != "pass word" {
		t.Errorf("%q, %q", user, password)
	}
}

func TestFull(t *testing.T) {
	c := collect(t)
	release := make(chan struct{})
	c.answer = func(http.ResponseWriter, *http.Request) { <-release }
	exported(t, environ{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_METRICS_EXPORTER": "none",
		"OTEL_BSP_MAX_QUEUE_SIZE": "4", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "2", "OTEL_BSP_SCHEDULE_DELAY": "1",
	}, func(r *run.Runner) {
		for range 100 { // none of them waits for the collector
			call(t, r, "toy", `{}`, run.Trace{})
		}
		close(release)
	})
	spans, _ := spansOf(t, c)
	if len(spans) < 4 || len(spans) > 20 {
		t.Errorf("%d spans came of 200 with a queue of 4", len(spans))
	}
}
