package index

// prefetch has the processor get what is around a value, which will be used soon.
//
//go:noescape
func prefetch(at *uint32)
