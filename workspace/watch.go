package workspace

// event says what a watch has told, in bits.
type event uint8

const (
	eventLost      event = 1 << iota // events are missing
	eventListing                     // an entry was made, removed or renamed
	eventContent                     // a file was written
	eventStatus                      // owner, mode, times or the like have changed
	eventMoved                       // the directory itself was moved or removed
	eventUnwatched                   // the watch has ended
	eventDirectory                   // the entry is a directory
)
