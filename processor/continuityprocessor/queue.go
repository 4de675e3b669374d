package continuityprocessor

import "iter"

// blockSize is how many entries of a queue lie together.
const blockSize = 64

// queue is a first-in first-out list in blocks. Whatever its length, no call
// moves what is in it: it is used under a lock for which requests wait.
type queue struct {
	blocks [][]owed
	n      int
}

func (q *queue) len() int { return q.n }

func (q *queue) push(one owed) {
	if last := len(q.blocks) - 1; last < 0 || len(q.blocks[last]) == cap(q.blocks[last]) {
		q.blocks = append(q.blocks, make([]owed, 0, blockSize))
	}
	last := &q.blocks[len(q.blocks)-1]
	*last = append(*last, one)
	q.n++
}

// first yields the n oldest, at most what there are.
func (q *queue) first(n int) iter.Seq[owed] {
	return func(yield func(owed) bool) {
		for _, block := range q.blocks {
			for _, one := range block[:min(n, len(block))] {
				if !yield(one) {
					return
				}
			}
			if n -= len(block); n <= 0 {
				return
			}
		}
	}
}

// drop removes the n oldest, at most what there are.
func (q *queue) drop(n int) {
	n = min(n, q.n)
	q.n -= n
	for n > 0 {
		block := q.blocks[0]
		k := min(n, len(block))
		clear(block[:k]) // let receipts go before the block does
		q.blocks[0] = block[k:]
		n -= k
		if len(q.blocks[0]) == 0 {
			q.blocks[0] = nil
			q.blocks = q.blocks[1:]
		}
	}
	if q.n == 0 {
		q.blocks = nil
	}
}
