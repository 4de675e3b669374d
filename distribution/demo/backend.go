package main

import (
	"fmt"
	"strings"
)

// backendHint says which lines of the configuration a tracing backend takes: the
// commented exporter, and the pipelines that name it behind a comment.
func backendHint(name, config string) string {
	const marker = "otlp_grpc/backend"
	var from, to int
	var pipelines []string
	for i, line := range strings.Split(config, "\n") {
		line, n := strings.TrimSpace(line), i+1
		code, comment, _ := strings.Cut(line, "#")
		switch {
		case code == "" && strings.TrimSpace(comment) == marker+":":
			from, to = n, n
		case code == "" && to == n-1 && strings.HasPrefix(comment, "   "): // indented below it
			to = n
		case strings.HasPrefix(code, "exporters:") && strings.Contains(comment, marker):
			pipelines = append(pipelines, fmt.Sprint(n))
		}
	}
	if from == 0 || len(pipelines) == 0 {
		return fmt.Sprintf("name your backend in %s", name)
	}
	return fmt.Sprintf("in %s uncomment lines %d to %d and set the address (leave the tls line out for a backend that speaks TLS); on lines %s put the exporters behind the # in place",
		name, from, to, strings.Join(pipelines, " and "))
}
