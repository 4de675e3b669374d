package continuityprocessor

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// faults collects what is wrong with a configuration.
type faults []error

const nameRule = "a name is like scope or constraint.no_push: lower-case letters, digits and _, one dot at most"

func (f *faults) add(key string, value any, remedy string) {
	*f = append(*f, fmt.Errorf("%s: found %q: %s", key, fmt.Sprint(value), remedy))
}

func (f *faults) positive(key string, d time.Duration) {
	if d <= 0 {
		f.add(key, d, "set a positive duration such as 15m")
	}
}

func (f *faults) between(key string, n, least, most int) {
	if n < least || n > most {
		f.add(key, n, fmt.Sprintf("set a number from %d to %d", least, most))
	}
}

func (f *faults) oneOf(key, value string, known ...string) {
	for _, k := range known {
		if value == k {
			return
		}
	}
	f.add(key, value, "use one of "+strings.Join(known, ", "))
}

func (f *faults) notEmpty(key string, values []string) {
	if len(values) == 0 {
		f.add(key, values, "name at least one, or leave the key out for the default")
	}
}

// texts refuses blank and repeated entries.
func (f *faults) texts(key string, values []string) {
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		switch {
		case strings.TrimSpace(v) == "":
			f.add(key, v, "remove the empty entry")
		case seen[v]:
			f.add(key, v, "name it once")
		}
		seen[v] = true
	}
}

func (f *faults) names(key string, values []string) {
	f.texts(key, values)
	for _, v := range values {
		if strings.TrimSpace(v) != "" && !classify.ValidName(v) {
			f.add(key, v, nameRule)
		}
	}
}

func (f *faults) sources(key string, values []string) {
	f.notEmpty(key, values)
	f.texts(key, values)
	for _, v := range values {
		if classify.ParseSource(v) == classify.Record {
			f.add(key, v, "what was read back from a stored file proves nothing about the agent's context: leave it out")
			continue
		}
		f.oneOf(key, v, classify.Agent.String(), classify.Environment.String(), classify.Human.String())
	}
}
