package workspace

// CheckWindowsNames is tested on every system.
var CheckWindowsNames = checkWindowsNames

// ParseFileURIOn is ParseFileURI on Windows or elsewhere.
var ParseFileURIOn = parseFileURI

// Refuse words an error of the system for a path.
func Refuse(p Path, err error) error { return p.refuse(err) }
