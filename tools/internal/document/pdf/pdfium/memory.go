package pdfium

import "github.com/tetratelabs/wazero/experimental"

// memory is the memory of an instance: a range of addresses that the system fills with pages
// as they are used. A slice would be copied each time it grows, and cleared for each file.
// Its pages go when the file is closed, not before: the host may still look at them.
type memory struct{ all []byte }

// allocator returns what makes the memory; nil = the usual way, where the system has no such
// ranges or no room for one.
func (m *memory) allocator() experimental.MemoryAllocator {
	if m.all = reserveRange(Memory); m.all == nil {
		return nil
	}
	return experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return m })
}

// Reallocate implements [experimental.LinearMemory].
func (m *memory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	return m.all[:size:size]
}

// Free implements [experimental.LinearMemory].
func (m *memory) Free() {}

func (m *memory) release() {
	if m.all != nil {
		releaseRange(m.all)
		m.all = nil
	}
}
