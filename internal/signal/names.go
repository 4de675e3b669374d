package signal

import (
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// names are what the names of one form mean. Nearly every name that is looked at
// means nothing, and must cost next to nothing: may looks at its length, which lies
// in the span itself, then at its first and last byte, which do not, and only what
// passes is hashed.
type names struct {
	exact map[string]meaning
	heads []headed
	// any are the rows that want to see every name.
	any []*Row
	// lengths are those of all known names, a bit for each; all that are longer share
	// the last bit. starting are the lengths of those that begin with a byte, ending
	// of those that end with it.
	lengths          uint64
	starting, ending [256]uint64
	// longest is the longest of exact: no body of a megabyte is hashed.
	longest int
}

// headed are the rows of all names that begin with some words.
type headed struct {
	head string // with the blank behind it
	rows []*Row
}

// meaning is what a name stands for. Native names win over recognisers.
type meaning struct {
	native boundary.Kind
	rows   []*Row
}

const (
	lastLength = 63
	every      = ^uint64(0) // all lengths
)

// may reports whether a name can mean anything.
func (n *names) may(name string) bool {
	length := uint64(1) << min(len(name), lastLength)
	return n.lengths&length != 0 && (name == "" || n.starting[name[0]]&n.ending[name[len(name)-1]]&length != 0)
}

// add lets a name mean something more. The first kind that has a name keeps it;
// the empty name means nothing.
func (n *names) add(name string, m meaning) {
	if name == "" {
		return
	}
	known := n.exact[name]
	if known.native == boundary.NoKind {
		known.native = m.native
	}
	known.rows = append(known.rows, m.rows...)
	if n.exact == nil {
		n.exact = map[string]meaning{}
	}
	n.exact[name] = known
	length := uint64(1) << min(len(name), lastLength)
	n.lengths |= length
	n.starting[name[0]] |= length
	n.ending[name[len(name)-1]] |= length
	n.longest = max(n.longest, len(name))
}

// addRow lets the names that a row is for mean what it says.
func (n *names) addRow(row *Row) {
	head, isHead := strings.CutSuffix(row.Name, anything)
	switch {
	case row.Name == "":
		n.any = append(n.any, row)
		n.lengths = every
		for b := range n.starting {
			n.starting[b], n.ending[b] = every, every
		}
	case isHead:
		n.addHead(head+" ", row)
		longer := every << min(len(head)+1, lastLength)
		n.lengths |= longer
		n.starting[head[0]] |= longer
		for b := range n.ending {
			n.ending[b] |= longer
		}
	default:
		n.add(row.Name, meaning{rows: []*Row{row}})
	}
}

func (n *names) addHead(head string, row *Row) {
	for i := range n.heads {
		if n.heads[i].head == head {
			n.heads[i].rows = append(n.heads[i].rows, row)
			return
		}
	}
	n.heads = append(n.heads, headed{head, []*Row{row}})
}

// underHead returns the rows of the first word of a name.
func (n *names) underHead(name string) []*Row {
	for i := range n.heads {
		if strings.HasPrefix(name, n.heads[i].head) {
			return n.heads[i].rows
		}
	}
	return nil
}
