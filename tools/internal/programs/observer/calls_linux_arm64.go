package observer

const sysRenameat = 38 // kept for old programs

// older returns the effects of the calls that only an older architecture has: none.
func (o *Observer) older(*report, int32, uint64) []effect { return nil }
