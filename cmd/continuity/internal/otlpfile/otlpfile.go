// Package otlpfile reads files of OTLP/JSON: one document, or one after another
// as the collector's file exporter writes them, spans and log records mixed.
package otlpfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Document is one JSON document of a file. One field is set.
type Document struct {
	Traces *ptrace.Traces
	Logs   *plog.Logs
	// Other is a JSON object that is no telemetry of traces or logs.
	Other json.RawMessage
}

// Contents are the documents of a file.
type Contents struct {
	Documents []Document
	// Cut is set where the file ends within a document: somebody may still write.
	Cut bool
}

// Read reads a whole file.
func Read(r io.Reader) (*Contents, error) {
	decoder := json.NewDecoder(r)
	c := &Contents{}
	for n := 1; ; n++ {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		switch {
		case errors.Is(err, io.EOF):
			return c, nil
		case errors.Is(err, io.ErrUnexpectedEOF) && n > 1:
			c.Cut = true
			return c, nil
		case err != nil:
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		document, err := parse(raw)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		c.Documents = append(c.Documents, document)
	}
}

var errNoObject = errors.New("it is no JSON object")

func parse(raw json.RawMessage) (Document, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return Document{}, errNoObject
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return Document{}, err
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if _, ok := members[name]; ok {
				return true
			}
		}
		return false
	}
	switch {
	case has("resourceSpans", "resource_spans"):
		traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(raw)
		return Document{Traces: &traces}, err
	case has("resourceLogs", "resource_logs"):
		logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(raw)
		return Document{Logs: &logs}, err
	}
	return Document{Other: raw}, nil
}
