package fsys

// Event is what a watch reports about an entry, in bits.
type Event uint16

// The bits of an event.
const (
	EventLost      Event = 1 << iota // events are missing
	EventListing                     // an entry was made, removed or renamed
	EventGone                        // the file that had the name has it no longer
	EventEnded                       // and has no other name, as far as is known
	EventContent                     // a file was written
	EventStored                      // one of these, by a system call that stores
	EventStatus                      // owner, mode, times or the like have changed
	EventMoved                       // the directory itself was moved or removed
	EventUnwatched                   // the watch has ended
	EventDirectory                   // the entry is a directory
)

// NoWatch is the watch of a directory that has none.
const NoWatch = -1
