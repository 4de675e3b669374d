package boundary

// words are the texts that many sessions of a core have in common: names of
// invariants, reasons, what describes a resource. Sessions that rest hold a number
// each. A word that nobody holds any more is forgotten.
type words struct {
	list  []word
	index map[string]uint32
	free  []uint32
}

type word struct {
	text  string
	attrs []Attr // what the text stands for, nil for none
	holds uint32
}

// take returns the number of a word, and counts one more who holds it.
func (w *words) take(text string, attrs []Attr) uint32 {
	n, known := w.index[text]
	if !known {
		if w.index == nil {
			w.index = map[string]uint32{}
		}
		if last := len(w.free) - 1; last >= 0 {
			n, w.free = w.free[last], w.free[:last]
		} else {
			n = uint32(len(w.list))
			w.list = append(w.list, word{})
		}
		w.list[n].text = text
		w.index[text] = n
	}
	if w.list[n].attrs == nil {
		w.list[n].attrs = attrs
	}
	w.list[n].holds++
	return n
}

// mostShares is among how many a word's weight is divided: the others may go, and who
// stays holds it alone.
const mostShares = 16

// share is what one who holds a word weighs for it.
func (w *words) share(n uint32) int {
	at := &w.list[n]
	return (wordWeight + len(at.text) + weightOfAttrs(at.attrs)) / int(min(at.holds, mostShares))
}

// at is a word by its number.
func (w *words) at(n uint64) word { return w.list[n] }

// give says that one holds it no more.
func (w *words) give(n uint64) {
	if w.list[n].holds--; w.list[n].holds == 0 {
		delete(w.index, w.list[n].text)
		w.list[n] = word{}
		w.free = append(w.free, uint32(n))
	}
}
