package workspace

import "os"

// mayChangeDir leaves the answer to the change itself: the access control of the
// system cannot be asked beforehand.
func mayChangeDir(*os.File) error { return nil }
