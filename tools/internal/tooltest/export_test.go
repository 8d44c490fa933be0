package tooltest

// What the suite judges by, for its own tests.
var (
	CancelledBefore = cancelledBefore
	CancelledAmid   = cancelledAmid
	Within          = within
	Leak            = leak
)

// Sentinel is what lies outside the roots.
const Sentinel = sentinel
