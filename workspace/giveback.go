package workspace

// giveBack appends to the file of a work what a program has appended to the one at s,
// which was to take its place and does not; it reports whether that was all that the
// program had done to it.
func (w *work) giveBack(s *spot, info Info) bool {
	if s != w.staged || w.op.Kind != OpWrite || info.Inode != s.info.Inode || info.Size <= s.info.Size {
		return false
	}
	now := readOld(s, info)
	if now.Cut || int64(len(now.Data)) < s.info.Size || hashBytes(now.Data[:s.info.Size]) != w.done.After.Hash {
		return false
	}
	f, _, err := w.at.dir.openWrite(w.at.name())
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = appendTo(f, now.Data[s.info.Size:])
	return err == nil
}
