package workspace

// event says what a watch has told, in bits.
type event uint16

const (
	eventLost      event = 1 << iota // events are missing
	eventListing                     // an entry was made, removed or renamed
	eventGone                        // what had the name has it no longer
	eventEnded                       // and no other, as far as is told
	eventContent                     // a file was written
	eventStored                      // of these, by a system call that stores
	eventStatus                      // owner, mode, times or the like have changed
	eventMoved                       // the directory itself was moved or removed
	eventUnwatched                   // the watch has ended
	eventDirectory                   // the entry is a directory
)
