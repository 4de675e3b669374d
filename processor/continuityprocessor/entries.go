package continuityprocessor

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pipeline"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// The keys of the storage are
//
//	s/<hash>              a session
//	o/<signal>/<number>   a receipt that a signal's pipeline still owes
//	h/<hash>              something that a runtime was seen to do
//	x/<key>/<hash>        an entry that could not be read, kept aside
//	i/<00 to ff>          the keys above, where the client cannot walk
//
// What begins otherwise is somebody else's, or a later version's.
const (
	sessionPrefix = "s/"
	owedPrefix    = "o/"
	habitPrefix   = "h/"
	asidePrefix   = "x/"
	indexPrefix   = "i/"
)

// hashed is short enough for an index, and nobody finds two sessions with one.
func hashed(parts ...string) string {
	sum := sha256.Sum256([]byte(boundary.JoinScope(parts, nil)))
	return hex.EncodeToString(sum[:16])
}

func sessionEntry(key boundary.SessionKey) string {
	return sessionPrefix + hashed(key.Scope, key.Session)
}

func owedEntry(one owed) string {
	return fmt.Sprintf("%s%s/%016x", owedPrefix, one.signal, one.number)
}

var errEntry = errors.New("it is not an entry of this version")

// parseOwed reads the key of a stored receipt.
func parseOwed(key string) (owed, error) {
	name, number, _ := strings.Cut(strings.TrimPrefix(key, owedPrefix), "/")
	n, err := strconv.ParseUint(number, 16, 64)
	if err != nil {
		return owed{}, errEntry
	}
	for _, s := range []pipeline.Signal{pipeline.SignalTraces, pipeline.SignalLogs} {
		if one := (owed{signal: s, number: n}); s.String() == name && owedEntry(one) == key {
			return one, nil
		}
	}
	return owed{}, errEntry
}

func habitEntry(key habitKey) string {
	return habitPrefix + hashed(key.tenant, key.runtime, strconv.Itoa(int(key.habit)))
}

// habitVersion is the first byte of a stored habit.
const habitVersion = 1

func encodeHabit(key habitKey) []byte {
	out := []byte{habitVersion, byte(key.habit)}
	out = binary.AppendUvarint(out, uint64(len(key.tenant)))
	return append(append(out, key.tenant...), key.runtime...)
}

func decodeHabit(value []byte) (habitKey, error) {
	if len(value) < 3 || value[0] != habitVersion || boundary.Habit(value[1]) > boundary.ReportsActivity {
		return habitKey{}, errEntry
	}
	size, n := binary.Uvarint(value[2:])
	if n <= 0 || size > uint64(len(value)-2-n) {
		return habitKey{}, errEntry
	}
	rest := string(value[2+n:])
	return habitKey{tenant: rest[:size], runtime: rest[size:], habit: boundary.Habit(value[1])}, nil
}

// asideEntry is where what could not be read is kept. The hash lets another one
// under the same key be kept too.
func asideEntry(key string, value []byte) string {
	return asidePrefix + key + "/" + hashed(string(value))[:8]
}

// keyIndex lists the keys of a storage, in 256 entries of its own so that a
// change of one rewrites few others.
type keyIndex map[string]map[string]struct{}

func bucketOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return indexPrefix + hex.EncodeToString(sum[:1])
}

// buckets are all entries that an index can have.
func buckets() []string {
	out := make([]string, 256)
	for i := range out {
		out[i] = indexPrefix + hex.EncodeToString([]byte{byte(i)})
	}
	return out
}

// note takes note of a key and returns the entry that lists it, where that
// changes.
func (x keyIndex) note(key string, there bool) (name string, changed bool) {
	name = bucketOf(key)
	if _, known := x[name][key]; known == there {
		return name, false
	}
	if x[name] == nil {
		x[name] = map[string]struct{}{}
	}
	if there {
		x[name][key] = struct{}{}
	} else {
		delete(x[name], key)
	}
	return name, true
}

func (x keyIndex) encode(name string) []byte {
	return []byte(strings.Join(slices.Sorted(maps.Keys(x[name])), "\n"))
}
