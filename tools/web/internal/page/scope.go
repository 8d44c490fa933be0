package page

// scoped finds the box that the main text is in, 0 = it may be anywhere: the main element, or
// else the article, if the page has only one and it is that.
func (d *layout) scoped() int {
	for _, h := range [...]hint{hintMain, hintArticle} {
		if i := d.only(h); i > 0 && d.holds(i) {
			return i
		}
	}
	return 0
}

// only returns the outermost box in sight with a hint, 0 = there is none, or several.
func (d *layout) only(h hint) int {
	found := 0
	for i := range d.boxes {
		b := &d.boxes[i]
		if b.hint&h == 0 || b.inherited&hintHidden != 0 || found > 0 && b.from < d.boxes[found].to {
			continue
		}
		if found > 0 {
			return 0
		}
		found = i
	}
	return found
}

// holds reports whether a box has text, and most of the runs that speak for a text, if more
// than a few do.
func (d *layout) holds(i int) bool {
	inside, good, around := 0, 0, 0
	for k := range d.runs {
		r := &d.runs[k]
		in := k >= d.boxes[i].from && k < d.boxes[i].to
		switch {
		case r.hint&hintHidden != 0:
		case !in && r.value() > 0:
			around += r.letters
		case in:
			inside += r.letters
			if r.value() > 0 {
				good += r.letters
			}
		}
	}
	return inside > waiting && (around < enough || good >= around)
}

// inScope reports whether a run is in the box that the main text is in.
func (d *layout) inScope(run int) bool {
	return run >= d.boxes[d.scope].from && run < d.boxes[d.scope].to
}

// linksBeside counts the links that are left out of a short text, if they are so many that a
// reader may want them; on an article they are menus.
func (d *layout) linksBeside() int {
	n, letters, kept := 0, 0, d.kept()
	for i := range d.runs {
		if r := &d.runs[i]; !r.keep && r.links*2 > r.letters && r.hint&hintHidden == 0 {
			n++
			letters += r.letters
		}
	}
	if n < 4 || d.said == kindArticle || kept >= 5*enough || letters*5 < kept {
		return 0
	}
	return n
}
