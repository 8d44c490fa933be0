package sandbox

// Level returns the level that is set; 0 = the best of this system.
func (e *Engine) Level() Level {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.opt.Level
}
