package continuity_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.opentelemetry.io/otel/log/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// An agent states what is in force, compacts its context, and states what it still
// knows.
func Example() {
	exporter := tracetest.NewInMemoryExporter() // an OTLP exporter, in earnest
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)).Tracer("my-agent")
	session := continuity.Common{Session: continuity.Session{ID: "conversation-1"}}
	var digester continuity.Digester

	before, err := digester.Decisions(
		continuity.Value{Name: "scope", Kind: continuity.ID, Value: "git@github.com:acme/payments.git"},
		continuity.Value{Name: "constraint.push", Kind: continuity.Choice, Value: "forbidden"},
	)
	if err != nil {
		panic(err)
	}
	ctx, span := tracer.Start(context.Background(), "snapshot")
	if err := continuity.Record(ctx, continuity.Snapshot{Common: session, Decisions: before}); err != nil {
		panic(err)
	}
	span.End()

	// … the context is compacted, and the agent is asked what holds …

	after, err := digester.Decisions(
		continuity.Value{Name: "scope", Kind: continuity.ID, Value: "https://github.com/acme/payments"},
	)
	if err != nil {
		panic(err)
	}
	ctx, span = tracer.Start(context.Background(), "restatement")
	if err := continuity.Record(ctx, continuity.Observation{Common: session, Source: continuity.Agent, Decisions: after}); err != nil {
		panic(err)
	}
	span.End()

	for _, s := range exporter.GetSpans() {
		fmt.Println(s.Name+":", s.Events[0].Name)
	}
	fmt.Println("same scope:", before[0].Digest == after[0].Digest)
	// Output:
	// snapshot: continuity.snapshot
	// restatement: continuity.observation
	// same scope: true
}

// An event that would be lost is an error.
func ExampleRecord() {
	marker := continuity.Snapshot{Common: continuity.Common{Session: continuity.Session{ID: "conversation-1"}}}
	err := continuity.Record(context.Background(), marker)
	fmt.Println(errors.Is(err, continuity.ErrNotRecording))
	// Output: true
}

// Log records are not sampled away with the span.
func ExampleEmit() {
	logger := noop.NewLoggerProvider().Logger("my-agent") // the SDK's, in earnest
	err := continuity.Emit(context.Background(), logger, continuity.Completion{
		Common:  continuity.Common{Session: continuity.Session{ID: "conversation-1"}, Trigger: "auto"},
		Outcome: continuity.Completed,
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExamplePublish() {
	logger := noop.NewLoggerProvider().Logger("my-agent")
	err := continuity.Publish(context.Background(), logger, continuity.SessionStart{
		Common:     continuity.Common{Session: continuity.Session{ID: "conversation-2"}},
		PreviousID: "conversation-1",
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleSnapshot_Attributes() {
	d := continuity.Digester{}
	main, _ := d.Decision("target", continuity.ID, "refs/heads/main")
	attributes, err := continuity.Snapshot{
		Common:    continuity.Common{Session: continuity.Session{ID: "conversation-1", Attribute: "session.id"}},
		Decisions: []continuity.Decision{main, {Name: "constraint.network", Digest: continuity.None}},
	}.Attributes()
	if err != nil {
		panic(err)
	}
	for _, a := range attributes {
		fmt.Printf("%s = %s\n", a.Key, a.Value.String())
	}
	// Output:
	// session.id = conversation-1
	// continuity.invariant.digest.target = sha256:0d6e4079e36703ebd37c00722f5891d28b0e2811dc114b129215123adcce3605
	// continuity.invariant.digest.constraint.network = none
	// continuity.digest.normalizer = v1
}

func ExampleDigester_Text() {
	d := continuity.Digester{}
	unix, _ := d.Text("never push to main\n")
	dos, _ := d.Text("never push to main  \r\n")
	indented, _ := d.Text("  never push to main")
	_, err := d.Text("n/a")
	fmt.Println(unix == dos, unix == indented)
	fmt.Println(err)
	// Output:
	// true false
	// the value is a placeholder, which states nothing
}

func ExampleDigester_JSON() {
	d := continuity.Digester{}
	one, _ := d.JSON([]byte(`{"limit": 1.0, "unit": "EUR"}`))
	other, _ := d.JSON([]byte(`{"unit":"EUR","limit":1e0}`))
	_, err := d.JSON([]byte(`{"limit": 9007199254740993}`))
	fmt.Println(one == other)
	fmt.Println(errors.Is(err, continuity.ErrJSON))
	// Output:
	// true
	// true
}

func ExampleDigester_Path() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		panic(err)
	}
	d := continuity.Digester{}
	straight, _ := d.Path(dir)
	linked, _ := d.Path(filepath.Join(dir, "link"))
	_, err = d.Path(filepath.Join(dir, "nowhere"))
	fmt.Println(straight == linked)
	fmt.Println(err)
	// Output:
	// true
	// the path cannot be resolved: no such file or directory
}

func ExampleDigester_Of() {
	d := continuity.Digester{}
	quoted, _ := d.Of(continuity.Command, `go test  './...'`)
	plain, _ := d.Of(continuity.Command, `go test ./...`)
	other, _ := d.Of(continuity.Command, `go test .`)
	fmt.Println(quoted == plain, plain == other)
	// Output: true false
}

func ExampleCanonical() {
	for _, v := range []continuity.Value{
		{Kind: continuity.ID, Value: "git@github.com:acme/payments.git"},
		{Kind: continuity.Command, Value: "CI=1 go test './...' | tee log"},
		{Kind: continuity.Set, Value: "release, main, main"},
		{Kind: continuity.Choice, Value: "Ask first"},
	} {
		canonical, err := continuity.Canonical(v.Kind, v.Value)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %s\n", v.Kind, canonical)
	}
	// Output:
	// id: github.com/acme/payments
	// command: [{"sh":"CI="},"1","go","test","./...",{"sh":"|"},"tee","log"]
	// set: ["main","release"]
	// choice: ask_first
}

// A plain digest of a branch can be guessed; a keyed one cannot.
func ExampleKeyed() {
	d, err := continuity.Keyed("team-2026", []byte("thirty-two bytes from a key file"))
	if err != nil {
		panic(err)
	}
	decision, _ := d.Decision("target", continuity.ID, "main")
	snapshot := continuity.Snapshot{
		Common:    continuity.Common{Session: continuity.Session{ID: "conversation-1"}},
		Decisions: []continuity.Decision{decision},
	}
	attributes, err := snapshot.Attributes()
	fmt.Println(attributes[len(attributes)-1].Key, "=", attributes[len(attributes)-1].Value.String(), err)
	// Output: continuity.digest.key_id = team-2026 <nil>
}

// A human's approval joins exactly one old value to one new one.
func ExampleApproval_Sign() {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err)
	}
	d := continuity.Digester{}
	from, _ := d.Of(continuity.ID, "github.com/acme/payments")
	to, _ := d.Of(continuity.ID, "github.com/acme/billing")
	approval, err := continuity.Approval{
		Common:    continuity.Common{Session: continuity.Session{ID: "conversation-1"}},
		Invariant: "scope", Ref: "CHG-1", From: from, To: to,
		ApprovedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour),
	}.Sign("team-2026", private)
	if err != nil {
		panic(err)
	}
	keys := map[string]ed25519.PublicKey{"team-2026": public}
	fmt.Println(approval.Verify(keys))
	approval.To = continuity.None
	fmt.Println(approval.Verify(keys))
	// Output:
	// true
	// false
}
