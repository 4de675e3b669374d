package boundary

// wakes is a heap of sessions by when they next need attention. A session is in
// it at most once; its position is kept in it, so that moving one is O(log n).
type wakes []*session

func (w wakes) Len() int           { return len(w) }
func (w wakes) Less(i, j int) bool { return w[i].wake.Before(w[j].wake) }

func (w wakes) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = i, j
}

// Push and Pop are container/heap's.
func (w *wakes) Push(x any) {
	s := x.(*session)
	s.index = len(*w)
	*w = append(*w, s)
}

// Pop removes the last.
func (w *wakes) Pop() any {
	old := *w
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*w = old[:len(old)-1]
	s.index = -1
	return s
}
