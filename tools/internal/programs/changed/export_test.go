package changed

// Looked waits until the first look is over, however busy the machine is.
func (w *Watch) Looked() { w.before <- <-w.before }
