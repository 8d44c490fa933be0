package identity

// Meters returns how many pairs of principal and tool are remembered.
func (l *Limiter) Meters() int { return len(l.meters) }
