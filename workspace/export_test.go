package workspace

// CheckWindowsNames is tested on every system.
var CheckWindowsNames = checkWindowsNames

// ParseFileURIOn is ParseFileURI on Windows or elsewhere.
var ParseFileURIOn = parseFileURI

// ByPath has a walk tell directories apart by their paths, as it does where the
// system has no inodes.
func ByPath(opt WalkOptions) WalkOptions {
	opt.byPath = true
	return opt
}

// Refuse words an error of the system for a path.
func Refuse(p Path, err error) error { return p.refuse(err) }
