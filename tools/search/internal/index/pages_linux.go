package index

import "golang.org/x/sys/unix"

// largePages asks the system for large pages behind values of allocate that are gone
// through in no order: the processor does not remember where so many small ones are.
func largePages[T any](values []T) {
	_ = unix.Madvise(bytesOf(values), unix.MADV_HUGEPAGE) // without them, it only takes longer
}
