package tooltest

import (
	"testing"

	"toolcrib/tools"
)

// What the suite judges by, for its own tests.
var (
	CancelledBefore = cancelledBefore
	CancelledAmid   = cancelledAmid
	Within          = within
	Leak            = leak
	RanDry          = ranDry
)

// Try returns what is wrong with a tool when one path is given to it, that of an
// entry or one that must be refused.
func Try(t *testing.T, tool tools.Tool, path string, entry bool) []string {
	ws, dir := Tree(t, nil)
	surround(t, dir)
	e := escape{t: t, tool: tool, call: tools.Call{Args: []byte(`{}`)}, ws: ws, dir: dir}
	e.plant()
	return e.try("/path", vector{"", path, entry})
}

// Sentinel is what lies outside the roots.
const Sentinel = sentinel
