package workspace

// Refuse words an error of the system for a path.
func Refuse(p Path, err error) error { return p.refuse(err) }
