package workspace

// CheckWindowsNames is tested on every system.
var CheckWindowsNames = checkWindowsNames

// Refuse words an error of the system for a path.
func Refuse(p Path, err error) error { return p.refuse(err) }
