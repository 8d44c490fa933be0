package telemetry

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pageType is the content type of a page: the text format of Prometheus, version
// 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats).
const pageType = "text/plain; version=0.0.4; charset=utf-8"

// page returns the metrics in the format of Prometheus.
func (s Sources) page(now time.Time) []byte {
	var b bytes.Buffer
	for _, m := range s.metrics(now) {
		if len(m.points) == 0 {
			continue
		}
		b.WriteString("# HELP " + m.prom + " " + m.help + "\n# TYPE " + m.prom + " " + kinds[m.kind] + "\n")
		for _, p := range m.points {
			if m.kind != histogram {
				sample(&b, m.prom, p.labels, p.value)
				continue
			}
			var below uint64
			for i, n := range p.buckets {
				below += n
				bound := "+Inf"
				if i < len(m.bounds) {
					bound = number(m.bounds[i])
				}
				sample(&b, m.prom+"_bucket", append(slices.Clip(p.labels), label{"le", bound}), float64(below))
			}
			sample(&b, m.prom+"_sum", p.labels, p.value)
			sample(&b, m.prom+"_count", p.labels, float64(below))
		}
	}
	return b.Bytes()
}

var kinds = [...]string{gauge: "gauge", counter: "counter", histogram: "histogram"}

func sample(b *bytes.Buffer, name string, labels []label, value float64) {
	b.WriteString(name)
	for i, l := range labels {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(l.key + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(l.value) + `"`)
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	b.WriteString(" " + number(value) + "\n")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
