//go:build !linux

package index

// largePages does nothing: the system decides by itself.
func largePages[T any]([]T) {}

// allocateTogether returns n zero values, and the room that is to be given to release.
func allocateTogether[T any](n int) (values, room []T, err error) {
	room, err = allocate[T](n)
	return room, room, err
}
