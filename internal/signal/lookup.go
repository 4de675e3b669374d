package signal

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// Scope returns the part of a key that tenant and resource give. It is the same
// for all spans and records of a resource.
func (r *Reader) Scope(resource pcommon.Map, tenant []string) string {
	if len(tenant) == 0 && len(r.scopes) == 0 {
		return ""
	}
	values := make([]string, len(r.scopes))
	for i, key := range r.scopes {
		if v, ok := resource.Get(key); ok {
			text, _ := asScalar(v)
			values[i] = distinct(text, maxText)
		}
	}
	return boundary.JoinScope(tenant, values)
}

// Key returns the key of a span or record that need not be an event, and false
// where nothing names its session. The key is good for looking up; strings in it
// are views into the telemetry unless they were too long.
func (r *Reader) Key(attrs, scope, resource pcommon.Map, tenant []string) (boundary.Key, bool) {
	return r.KeyIn(r.Scope(resource, tenant), attrs, scope, resource)
}

// KeyIn is Key with a Scope that was computed before: it does not allocate.
func (r *Reader) KeyIn(in string, attrs, scope, resource pcommon.Map) (boundary.Key, bool) {
	p := places{n: 3, at: [4]pcommon.Map{attrs, scope, resource}}
	first, hasAgent := r.idsIn(attrs)
	session, ok := id{}, false
	if first < len(r.sessions) {
		session, ok = idIn(attrs, r.sessions[first])
	} else {
		p = places{n: 2, at: [4]pcommon.Map{scope, resource}}
	}
	if !ok {
		if session, ok = p.lookup(r.sessions, p.n); !ok {
			return boundary.Key{}, false
		}
	}
	key := boundary.Key{SessionKey: boundary.SessionKey{Scope: in, Session: session.key()}}
	if hasAgent {
		p.at[0] = attrs
		agent, _ := p.lookup(r.agents, 1)
		key.Agent = agent.key()
	}
	return key, true
}

// idsIn finds in one pass the best attribute there is that can name a session, and
// whether one can name an agent: most spans have one of the first, none of the
// second, and several that are neither.
func (r *Reader) idsIn(attrs pcommon.Map) (session int, agent bool) {
	session = len(r.sessions)
	for key := range attrs.All() {
		if r.idLengths>>min(len(key), lastLength)&1 == 0 {
			continue
		}
		if i := slices.Index(r.sessions[:session], key); i >= 0 {
			session = i
		}
		agent = agent || slices.Contains(r.agents, key)
	}
	return session, agent
}

// places are where an id is looked up, nearest first: the event, its span or
// record, the scope, the resource. The first own of them belong to the event.
type places struct {
	at     [4]pcommon.Map
	n, own int
}

func placesOf(f *found, at *around) places {
	if f.form != SpanEvent {
		return places{n: 3, own: 1, at: [4]pcommon.Map{f.attrs, at.scope.Attributes(), at.resource}}
	}
	return places{n: 4, own: 2, at: [4]pcommon.Map{f.attrs, f.enclosing, at.scope.Attributes(), at.resource}}
}

// id is an attribute that names somebody.
type id struct {
	attribute string
	// sent is the text as it came, text the text without the blanks around it.
	// Both are views.
	sent, text string
}

// key is what the id is compared by.
func (i id) key() string {
	if len(i.text) <= maxText {
		return i.text
	}
	return distinct(i.text, maxText)
}

// lookup finds the nearest id: at each of the first n places, keys in order.
// What names nobody is skipped.
func (p *places) lookup(keys []string, n int) (id, bool) {
	for i := range p.at[:n] {
		for _, key := range keys {
			if found, ok := idIn(p.at[i], key); ok {
				return found, true
			}
		}
	}
	return id{}, false
}

func idIn(m pcommon.Map, key string) (id, bool) {
	v, ok := m.Get(key)
	if !ok {
		return id{}, false
	}
	if text, ok := idOf(v); ok {
		return id{key, v.Str(), text}, true
	}
	// Seldom: the first one of several names nobody.
	for k, v := range m.All() {
		if k != key {
			continue
		}
		if text, ok := idOf(v); ok {
			return id{key, v.Str(), text}, true
		}
	}
	return id{}, false
}

// idOf reads an id: only strings are ids (Codex's thread.id is a number).
func idOf(v pcommon.Value) (string, bool) {
	text, ok := asText(v)
	if !ok {
		return "", false
	}
	return trimID(text)
}

// identity lists all session and agent attributes that name somebody, as they
// came, each from its nearest place. What the operator redacts is not in it.
func (r *Reader) identity(p *places, sessions, agents []string) []boundary.Attr {
	var out []boundary.Attr
	add := func(keys []string, n int) {
		for i, key := range keys {
			if _, hide := r.redact[key]; hide {
				continue
			}
			if found, ok := p.lookup(keys[i:i+1], n); ok {
				out = append(out, boundary.Attr{Key: key, Value: distinct(found.sent, maxText)})
			}
		}
	}
	add(sessions, p.n)
	add(agents, p.own)
	return out
}

// resourcePrefixes are the attributes that receipts copy from a resource, at
// most maxResource of them.
var resourcePrefixes = [...]string{"service.", "host.", "deployment.", "k8s."}

const maxResource = 64

func (r *Reader) copyResource(resource pcommon.Map) []boundary.Attr {
	var out []boundary.Attr
	seen := map[string]struct{}{}
	for key, value := range resource.All() {
		if !copied(key) || len(out) == maxResource {
			continue
		}
		if _, hide := r.redact[key]; hide {
			continue
		}
		if _, twice := seen[key]; twice {
			continue
		}
		if v := scalar(value); v != nil {
			seen[key] = struct{}{}
			out = append(out, boundary.Attr{Key: strings.Clone(key), Value: v})
		}
	}
	return out
}

func copied(key string) bool {
	for _, prefix := range resourcePrefixes {
		if strings.HasPrefix(key, prefix) {
			return fits(key, maxText)
		}
	}
	return false
}

func scalar(v pcommon.Value) any {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return bounded(v.Str(), maxText)
	case pcommon.ValueTypeInt:
		return v.Int()
	case pcommon.ValueTypeBool:
		return v.Bool()
	default:
		return nil
	}
}
