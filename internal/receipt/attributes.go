package receipt

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// stateLists are the lists of names by state. Preserved names have none: what
// is well needs no list.
var stateLists = [...]struct {
	state classify.State
	key   string
}{
	{classify.Conflicting, semconv.InvariantsConflicting},
	{classify.Dropped, semconv.InvariantsDropped},
	{classify.Unverified, semconv.InvariantsUnverified},
	{classify.ApprovedChange, semconv.InvariantsApprovedChange},
}

// putVerdict writes what an observation is told; receipts carry the same.
func putVerdict(m pcommon.Map, v *boundary.Verdict) {
	m.EnsureCapacity(m.Len() + 8 + 2*len(v.Findings))
	summaryOf(v).put(m)
	putText(m, semconv.Reason, string(v.Reason))
	putTexts(m, semconv.Actions, texts(v.Actions, classify.Action.String))
	m.PutInt(semconv.Revision, int64(v.Revision))
	for _, f := range v.Findings {
		if f.Name == "" { // of the boundary as a whole: the reason says it
			continue
		}
		keys := keysOf(f.Name)
		putText(m, keys.state, f.State.String())
		putText(m, keys.reason, string(f.Reason))
	}
	for _, list := range stateLists {
		putTexts(m, list.key, namesIn(v.Findings, list.state))
	}
	putTexts(m, semconv.InvariantsChangedSince, v.ChangedSince)
	putValidation(m, v.Validation)
}

func putValidation(m pcommon.Map, v classify.Validation) {
	if v.Status == classify.NoValidation {
		return
	}
	putText(m, semconv.ValidationStatus, string(v.Status))
	putText(m, semconv.ValidationReason, string(v.Reason))
	putTexts(m, semconv.ValidationFindings, texts(v.Findings, reasonText))
	m.PutBool(semconv.RequiresReauthorization, true)
}

// putReceipt writes a whole receipt: the verdict and how it came about.
func putReceipt(m pcommon.Map, r *boundary.Receipt) {
	putAttrs(m, r.Identity)
	putVerdict(m, r.Verdict)
	for _, f := range r.Findings {
		if f.Name != "" {
			putStatement(m, f)
		}
	}
	putText(m, semconv.Runtime, r.Runtime)
	putText(m, semconv.CompactionTrigger, r.Trigger)
	putText(m, semconv.CompactionOutcome, r.Outcome.String())
	putCount(m, semconv.TokensBefore, r.TokensBefore)
	putCount(m, semconv.TokensAfter, r.TokensAfter)
	putCount(m, semconv.WritesBefore, int64(r.Writes))
	putText(m, semconv.Coverage, r.Coverage.String())
	putText(m, semconv.ActivityState, r.Activity)
	putSeconds(m, semconv.Window, r.Window)
	putCount(m, semconv.SupersededCount, int64(r.Superseded))
	if r.Late {
		m.PutBool(semconv.Late, true)
	}
	if r.ApprovalUsed {
		m.PutBool(semconv.ApprovalSigned, r.ApprovalSigned)
	}
}

// putCount writes a number where there is something to count.
func putCount(m pcommon.Map, key string, n int64) {
	if n > 0 {
		m.PutInt(key, n)
	}
}

// putStatement writes what the deciding statement said beside its digest.
func putStatement(m pcommon.Map, f classify.Finding) {
	putText(m, keysOf(f.Name).source, f.Source.String())
	if f.Revision != "" {
		putText(m, semconv.InvariantRevision+f.Name, f.Revision)
	}
	if f.ApprovalRef != "" {
		putText(m, semconv.InvariantApprovalRef+f.Name, f.ApprovalRef)
	}
	if f.Choices != 0 {
		m.PutInt(semconv.InvariantChoices+f.Name, f.Choices)
	}
}

func putAttrs(m pcommon.Map, attrs []boundary.Attr) {
	for _, a := range attrs {
		switch v := a.Value.(type) {
		case string:
			m.PutStr(clean(a.Key), clean(v))
		case int64:
			m.PutInt(clean(a.Key), v)
		case bool:
			m.PutBool(clean(a.Key), v)
		}
	}
}

// putText writes a text; one that says nothing is left out.
func putText(m pcommon.Map, key, value string) {
	if value != "" {
		m.PutStr(key, clean(value))
	}
}

// putTexts writes a list; an empty one is left out.
func putTexts(m pcommon.Map, key string, values []string) {
	if len(values) == 0 {
		return
	}
	list := m.PutEmptySlice(key)
	list.EnsureCapacity(len(values))
	for _, v := range values {
		list.AppendEmpty().SetStr(clean(v))
	}
}

// putSeconds writes an int where the seconds are whole, else a double.
func putSeconds(m pcommon.Map, key string, d time.Duration) {
	switch {
	case d <= 0:
	case d%time.Second == 0:
		m.PutInt(key, int64(d/time.Second))
	default:
		m.PutDouble(key, d.Seconds())
	}
}

func namesIn(findings []classify.Finding, state classify.State) []string {
	var names []string
	for _, f := range findings {
		if f.State == state && f.Name != "" {
			names = append(names, f.Name)
		}
	}
	return names
}

func texts[T any](values []T, text func(T) string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = text(v)
	}
	return out
}

func reasonText(r classify.Reason) string { return string(r) }
