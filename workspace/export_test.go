package workspace

// CheckWindowsNames is tested on every system.
var CheckWindowsNames = checkWindowsNames
