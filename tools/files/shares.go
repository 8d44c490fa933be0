package files

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
)

// nextRoom is what a status line grows by where a file is cut.
const nextRoom = 100

// cut reads the larger files again, with less room, until all together have at
// most the given bytes: small files stay whole, the others share what is left
// equally.
func (s *shares) cut(ctx context.Context, room int) error {
	sizes := make([]int, len(s.parts))
	for i, p := range s.parts {
		sizes[i] = p.size()
	}
	level := fairLevel(sizes, room)
	for i, p := range s.parts {
		if p.size() <= level {
			continue
		}
		part, err := s.read(ctx, p.wanted, max(level-len(p.out.Status)-nextRoom, 0))
		if err != nil {
			return err
		}
		s.parts[i] = part
	}
	return nil
}

// fairLevel returns the size that the larger of some things are to be cut to, so
// that all have room.
func fairLevel(sizes []int, room int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, size := range sizes {
		if each := room / (len(sizes) - i); size > each {
			return each
		}
		room -= size
	}
	if len(sizes) == 0 {
		return 0
	}
	return sizes[len(sizes)-1]
}

// result words what was read.
func (s *shares) result(offset, total int, notes string) ReadFilesOut {
	var out ReadFilesOut
	failed := 0
	for _, p := range s.parts {
		out.Files = append(out.Files, p.out)
		if p.err != nil {
			failed++
		}
	}
	b := fmt.Appendf(nil, "%s", textfile.Count(total, "file"))
	end := offset + len(s.parts)
	if len(s.parts) < total {
		b = fmt.Appendf(b, "; files %d-%d", offset+1, end)
	}
	if failed > 0 {
		b = fmt.Appendf(b, ", %d not read", failed)
	}
	if end < total {
		b = fmt.Appendf(b, "; next: offset=%d", end)
		out.More = tools.NextAt("offset", end)
	}
	if notes != "" {
		b = append(b, "\n"+strings.TrimSuffix(notes, "\n")...)
	}
	out.Status = string(b)
	return out
}
