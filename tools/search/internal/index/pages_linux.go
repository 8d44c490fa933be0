package index

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// largePage is the least size of a large page, and what its place is a multiple of.
const largePage = 2 << 20

// largePages asks the system for large pages behind values of allocate that are gone
// through in no order: the processor does not remember where so many small ones are.
func largePages[T any](values []T) {
	_ = unix.Madvise(bytesOf(values), unix.MADV_HUGEPAGE) // without them, it only takes longer
}

// allocateTogether returns n zero values, together no more than a large page, in one. The
// room that they are in is to be given to release.
func allocateTogether[T any](n int) (values, room []T, err error) {
	size := int(unsafe.Sizeof(*new(T)))
	if room, err = allocate[T](2 * largePage / size); err != nil {
		return nil, nil, err
	}
	largePages(room)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(room)))
	first := int(-at%largePage) / size
	return room[first : first+n], room, nil
}
