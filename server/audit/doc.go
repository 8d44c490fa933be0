// Package audit keeps the audit log: a directory of JSON Lines files whose records are
// chained by a keyed hash, so that without the key a record cannot be changed, dropped,
// added or reordered unnoticed.
//
// A line is a JSON object whose first field is "seq" and whose last is "hash":
//
//	hash = HMAC-SHA256(key, hash of the line before || the line up to its field "hash")
//
// The key and the head (number and hash of the last record) are kept in the state
// directory, not in that of the log: somebody who can write the log can neither compute the
// chain, nor cut its end, remove a file or the whole directory without [Verify] noticing.
// If the head was removed too, a note kept with the key shows that the log was begun.
//
// The log writes some records itself; they have the field "log", see kinds. Every
// file begins with one of the kind open and ends, when it is full, with one of the
// kind close, which name the files next to them.
//
// Several processes share one log, such as those of a desktop client and an IDE: one
// chain gives all calls one order, and removing the records of a process leaves a gap.
// Each takes a lock for each batch of records.
//
// The package knows no tools and no server: it imports workspace/state alone.
// Start at [Open]; [Log.commit] is the way of a batch to the disk.
package audit
