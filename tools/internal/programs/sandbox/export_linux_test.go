package sandbox

// LeaveOut has the sandboxes that are made from now on do without namespaces, the flags of
// clone.
func (e *Engine) LeaveOut(namespaces uintptr) { e.platform.leftOut = namespaces }
