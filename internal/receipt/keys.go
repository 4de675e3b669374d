package receipt

import (
	"sync"
	"sync/atomic"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// invariantKeys are the attributes that every finding of a name has.
type invariantKeys struct{ state, reason, source string }

// known are the keys of the names that were written first: there are few names, and
// each receipt writes them.
var (
	known   sync.Map // name -> *invariantKeys
	knownOf atomic.Int64
)

// maxKnown bounds them: names are the senders' to choose.
const maxKnown = 1024

func keysOf(name string) *invariantKeys {
	if keys, ok := known.Load(name); ok {
		return keys.(*invariantKeys)
	}
	keys := &invariantKeys{semconv.InvariantState + name, semconv.InvariantReason + name, semconv.InvariantSource + name}
	if knownOf.Add(1) > maxKnown {
		knownOf.Add(-1)
		return keys
	}
	known.Store(name, keys)
	return keys
}
