package telemetry

import "time"

// Page returns the metrics in the format of Prometheus, at a given moment.
func (s Sources) Page(now time.Time) []byte { return s.page(now) }
