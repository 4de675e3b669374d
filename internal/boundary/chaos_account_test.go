package boundary_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// How histories and what came of them are written down.

// told is a history as it was played, for parseHistory.
func (p *plan) told() string {
	times := map[*boundary.Event]int{}
	for _, r := range p.requests {
		for _, s := range r.steps {
			times[s.ev]++
		}
	}
	var b strings.Builder
	last := time.Duration(0)
	b.WriteString(chaosConfig + primerLines)
	for _, r := range p.requests {
		for _, s := range r.steps {
			_, what, _ := strings.Cut(s.line, " ")
			if times[s.ev] > 1 && !strings.Contains(what, " dup=") {
				what += " dup=" + p.eventID(s.ev)
			}
			if own := s.ev.Time - classify.At(epoch.Add(s.at)); times[s.ev] > 1 { // that of its first line
				what += fmt.Sprintf(" event=%.1f", time.Duration(own).Seconds())
			}
			last = s.at
			fmt.Fprintf(&b, "%.1f %s   # taken from %.3f to %.3f\n", s.at.Seconds(), what, r.from.Seconds(), r.to.Seconds())
		}
	}
	fmt.Fprintf(&b, "until %.1f\n", (last + longest).Seconds())
	return b.String()
}

// account is all that is said of a history, without what the wire does not tell:
// boundary by boundary, in any order.
func account(outs []out) string {
	boundaries := map[string][]string{}
	for i, line := range lines(asTold(outs)) {
		o := outs[i]
		id := o.key.Session + "|" + o.id
		if madeUp(o.id) {
			line = "(made) " + line
		} else {
			line = "(" + o.id + ") " + line
		}
		boundaries[id] = append(boundaries[id], line)
	}
	var all []string
	for _, revisions := range boundaries {
		slices.Sort(revisions)
		all = append(all, strings.Join(revisions, "\n"))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// madeUp tells the boundary ids of the model and of the collector from b1 and b2.
func madeUp(id string) bool { return len(id) > 2 }

// asTold leaves out what a receipt on the wire does not say. The agent is that of
// the last event that joined, so it is not compared.
func asTold(outs []out) []out {
	told := slices.Clone(outs)
	for i := range told {
		o := &told[i]
		o.at, o.boundary, o.key.Agent = 0, 0, ""
		findings := map[string]string{}
		for name, f := range o.findings {
			if name != "" { // the reason speaks for the boundary as a whole
				findings[name] = strings.TrimSuffix(f, "?")
			}
		}
		o.findings = findings
		o.validation.Findings = slices.Clone(o.validation.Findings)
		if o.validation.Status == classify.NoValidation {
			o.validation = classify.Validation{}
		}
	}
	return told
}
