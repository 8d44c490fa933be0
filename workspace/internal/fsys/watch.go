package fsys

// Event says what a watch has told, in bits.
type Event uint16

// What an event may say.
const (
	EventLost      Event = 1 << iota // events are missing
	EventListing                     // an entry was made, removed or renamed
	EventGone                        // what had the name has it no longer
	EventEnded                       // and no other, as far as is told
	EventContent                     // a file was written
	EventStored                      // of these, by a system call that stores
	EventStatus                      // owner, mode, times or the like have changed
	EventMoved                       // the directory itself was moved or removed
	EventUnwatched                   // the watch has ended
	EventDirectory                   // the entry is a directory
)

// NoWatch is the watch of a directory that has none.
const NoWatch = -1
