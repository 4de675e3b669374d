package continuityprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/receipt"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// request is one batch on its way through. Its events are taken first, one by
// one; when all are, annotations are written, so that an observation finds its
// snapshot wherever in the batch it stands.
type request struct {
	shared *shared
	origin boundary.Origin
	now    time.Time
	tenant []string
	// found are the events to annotate.
	found []annotated
	// took is set once an event was taken, observed once the state took it.
	took, observed bool
}

// annotated is an event and where its annotation goes.
type annotated struct {
	event, enclosing pcommon.Map
	noted            noted
	// reason is set where there is nothing noted.
	reason classify.Reason
}

// traces takes the events of a batch of spans and annotates it in place. With
// storage it returns once they are stored; it fails where they cannot be and the
// configuration refuses such batches.
func (s *shared) traces(ctx context.Context, origin boundary.Origin, td ptrace.Traces) error {
	r := request{shared: s, origin: origin, now: s.state.now(), tenant: s.tenant(ctx)}
	s.reader.Traces(td, r.tenant, r.now, r.take)
	if s.cfg.Annotate == AnnotateSession {
		s.markSpans(td, r.tenant)
	}
	return r.finish(ctx)
}

// logs does the same for a batch of log records.
func (s *shared) logs(ctx context.Context, origin boundary.Origin, ld plog.Logs) error {
	r := request{shared: s, origin: origin, now: s.state.now(), tenant: s.tenant(ctx)}
	s.reader.Logs(ld, r.tenant, r.now, r.take)
	if s.cfg.Annotate == AnnotateSession {
		s.markRecords(ld, r.tenant)
	}
	return r.finish(ctx)
}

// take is called for each recognised event, in order.
func (r *request) take(item signal.Item) {
	r.took = true
	receipt.Strip(item.Attributes, item.Enclosing)
	if item.Reason != "" {
		r.shared.tel.recordRejected(item.Reason)
	}
	a := annotated{event: item.Attributes, enclosing: item.Enclosing, reason: item.Reason}
	switch {
	case item.Event == nil:
		r.found = append(r.found, a)
	case item.Reason == "":
		item.Event.Origin, r.observed = r.origin, true
		if a.noted = r.shared.state.observe(r.now, item.Event); a.noted.mark != nil {
			r.found = append(r.found, a)
		}
	}
}

// finish writes the annotations, then waits until the events are stored.
func (r *request) finish(ctx context.Context) error {
	if !r.took {
		return nil
	}
	for _, a := range r.found {
		note := boundary.Annotation{Reason: a.reason}
		if a.noted.mark != nil {
			note = a.noted.annotation()
		}
		receipt.Annotate(a.event, a.enclosing, note)
	}
	r.shared.reportOverflow()
	if !r.observed {
		return nil
	}
	return r.shared.stored(ctx)
}

// marker knows the state of the session of which the last span or record was: the
// next one is most often of the same.
type marker struct {
	*shared
	in    string
	key   boundary.Key
	known bool
	found classify.State
}

// markSpans writes the state of its session on every span of one that has had a
// boundary. Annotations come after it and count more.
func (s *shared) markSpans(td ptrace.Traces, tenant []string) {
	m := marker{shared: s}
	for _, rs := range td.ResourceSpans().All() {
		m.in = s.reader.Scope(rs.Resource().Attributes(), tenant)
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				m.mark(span.Attributes(), ss.Scope().Attributes(), rs.Resource().Attributes())
			}
		}
	}
}

func (s *shared) markRecords(ld plog.Logs, tenant []string) {
	m := marker{shared: s}
	for _, rl := range ld.ResourceLogs().All() {
		m.in = s.reader.Scope(rl.Resource().Attributes(), tenant)
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				m.mark(record.Attributes(), sl.Scope().Attributes(), rl.Resource().Attributes())
			}
		}
	}
}

func (m *marker) mark(attrs, scope, resource pcommon.Map) {
	current := classify.NoState
	if key, ok := m.reader.KeyIn(m.in, attrs, scope, resource); ok {
		if !m.known || key != m.key {
			m.key, m.known, m.found = key, true, m.state.of(key)
		}
		current = m.found
	}
	receipt.MarkSession(attrs, current)
}

// tenant is what the client's metadata say; nil where none are asked for. A key
// that was sent twice cannot pretend to be two keys, and one that was not sent
// differs from an empty one.
func (s *shared) tenant(ctx context.Context) []string {
	if len(s.cfg.MetadataKeys) == 0 {
		return nil
	}
	md := client.FromContext(ctx).Metadata
	parts := make([]string, 0, len(s.cfg.MetadataKeys))
	for _, key := range s.cfg.MetadataKeys {
		parts = append(parts, tenantPart(md.Get(key)))
	}
	return parts
}

// maxTenant bounds what is kept of one key of the metadata: every session of the
// tenant holds it. Longer ones are told apart by their hash.
const maxTenant = 256

func tenantPart(values []string) string {
	part := boundary.JoinScope(values, nil)
	if len(part) > maxTenant {
		return hashed(part)
	}
	return part
}
