// Command agent is a small agent that works, compacts its context, and forgets a
// rule on the way. It tells a collector what it knew before and what it knows
// afterwards; the continuity processor there finds what is gone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

func main() {
	flags := flag.NewFlagSet("agent", flag.ExitOnError)
	endpoint := flags.String("endpoint", "http://127.0.0.1:4318", "where OTLP over HTTP is received")
	session := flags.String("session", "", "the conversation's id; a new one where it is not given")
	remember := flags.Bool("remember", false, "summarise without forgetting anything")
	_ = flags.Parse(os.Args[1:]) // ExitOnError

	if err := run(context.Background(), os.Stdout, *endpoint, *session, *remember); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, endpoint, session string, remember bool) (err error) {
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint+"/v1/traces"), otlptracehttp.WithTimeout(5*time.Second))
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(
		// Each span leaves when it ends, so that nothing is lost when the agent is.
		sdktrace.WithSyncer(exporter),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "example-agent"))),
	)
	defer func() { err = errors.Join(err, provider.Shutdown(ctx)) }()

	if session == "" {
		session = fmt.Sprintf("example-%d", time.Now().Unix())
	}
	a := &agent{
		session: continuity.Session{ID: session, Runtime: "example_agent"},
		tracer:  provider.Tracer("example-agent"), out: out, limit: 8, summarise: forgetful,
		context: []string{
			"scope: https://github.com/acme/payments.git",
			"target: refs/heads/retry-fix",
			"acceptance_test: go test ./retry/...",
			"approval_boundary: deploy",
			"constraint.push: forbidden",
		},
	}
	if remember {
		a.summarise = careful
	}
	fmt.Fprintf(out, "session   %s\n", session)
	for _, step := range []string{"reads retry.go", "edits retry.go", "runs go test ./retry/...", "reads the failure", "edits retry_test.go"} {
		if err := a.work(ctx, step); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "done      and all looks well")
	return nil
}
