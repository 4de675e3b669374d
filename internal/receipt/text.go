package receipt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// maxText bounds every text that we write, in bytes.
const maxText = 256

// clean makes a text valid UTF-8 and cuts it between two runes.
func clean(s string) string {
	if len(s) <= maxText && utf8.ValidString(s) {
		return s
	}
	s = strings.ToValidUTF8(s[:min(len(s), maxText+utf8.UTFMax)], string(utf8.RuneError))
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// maxQuoted bounds what a sentence quotes of a sender's text.
const maxQuoted = 64

// quote makes a sender's text fit for a sentence: short, and on one line, so that
// it cannot look like a second one.
func quote(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, clean(s))
	if utf8.RuneCountInString(s) > maxQuoted {
		s = string([]rune(s)[:maxQuoted]) + "…"
	}
	return s
}

// found says in words what a state means.
var found = [...]string{
	classify.NoState:        "nothing was compared",
	classify.Preserved:      "every decision was shown again unchanged",
	classify.ApprovedChange: "decisions changed as was approved",
	classify.Unverified:     "it is not verified that the decisions survived",
	classify.Dropped:        "a decision was dropped",
	classify.Conflicting:    "a decision conflicts with the one before",
}

// sentence is the body of a receipt.
func sentence(r *boundary.Receipt) string {
	var names []string
	if r.Boundary != classify.Preserved {
		names = namesIn(r.Findings, r.Boundary)
	}
	what := found[r.Boundary]
	if r.Reason == classify.ApprovedAfter {
		what = "what had changed was approved afterwards"
	}
	text := "Compaction of session " + quote(r.Key.Session) + ": " + what + because(string(r.Reason), names)
	if r.State > r.Boundary {
		text += ", and the session is still " + r.State.String()
	}
	return clean(text + then(r.Verdict) + ".")
}

// fired says in words what is outstanding.
var fired = [...]string{
	boundary.AlertPostObservationMissing: "its decisions were not shown again in time after a compaction",
	boundary.AlertDecisionConflicting:    "a decision conflicts with the one before a compaction",
	boundary.AlertDecisionDropped:        "a decision was dropped in a compaction",
	boundary.AlertReconciliationRequired: "it is not known whether a side effect took place",
	boundary.AlertDecisionUnverified:     "it is not verified that its decisions survived a compaction",
	boundary.AlertCompactionFailed:       "a compaction failed",
	boundary.AlertInstrumentationGap:     "it compacts, but nobody states its decisions",
}

// alertSentence is the body of an alert.
func alertSentence(r *boundary.Receipt, a boundary.Alert) string {
	start := "Session " + quote(r.Key.Session) + ": "
	switch a.Status {
	case boundary.Resolved:
		return clean(start + "no longer outstanding: " + fired[a.Kind] + because("", a.Invariants) + ".")
	case boundary.Closed:
		return clean(start + "forgotten after its time, never answered: " + fired[a.Kind] + because("", a.Invariants) + ".")
	default:
		return clean(start + fired[a.Kind] + because(string(r.Reason), a.Invariants) + then(r.Verdict) + ".")
	}
}

// because names the reason and the first few invariants.
func because(reason string, names []string) string {
	const most = 3
	quoted := make([]string, 0, most+1)
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, quote(name))
	}
	if len(names) > most {
		quoted = append(quoted, "…")
	}
	list := strings.Join(quoted, ", ")
	switch {
	case reason == "" && list == "":
		return ""
	case reason == "":
		return " (" + list + ")"
	case list == "":
		return " (" + reason + ")"
	default:
		return " (" + reason + ": " + list + ")"
	}
}

func then(v *boundary.Verdict) string {
	if a := firstAction(v); a != classify.NoAction {
		return "; " + strings.ReplaceAll(a.String(), "_", " ")
	}
	return ""
}
