package workspace

// maxLog bounds how many changes a table remembers.
const maxLog = 1 << 16

// changeLog remembers which files have changed in which generation.
type changeLog struct {
	since uint64 // all changes of later generations are there
	list  []logged
}

type logged struct {
	generation uint64
	dir        *tableDir
	id         uint32
}

func (l *changeLog) add(generation uint64, d *tableDir, id uint32) {
	if len(l.list) >= maxLog {
		half := len(l.list) / 2
		l.since = l.list[half-1].generation
		l.list = append(make([]logged, 0, maxLog), l.list[half:]...)
	}
	l.list = append(l.list, logged{generation, d, id})
}

// after returns the IDs of what has changed since a generation, by directory; ok is
// false if that is too long ago.
func (l *changeLog) after(generation uint64) (ids map[*tableDir]map[uint32]struct{}, ok bool) {
	if generation < l.since {
		return nil, false
	}
	ids = map[*tableDir]map[uint32]struct{}{}
	for i := len(l.list) - 1; i >= 0 && l.list[i].generation > generation; i-- {
		at := l.list[i]
		if at.dir.gone {
			continue
		}
		if ids[at.dir] == nil {
			ids[at.dir] = map[uint32]struct{}{}
		}
		ids[at.dir][at.id] = struct{}{}
	}
	return ids, true
}
