package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/ask"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/sessions"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

func (a *app) mcpCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Be an MCP server with which an agent records and restates its decisions",
		Long: `Serves the Model Context Protocol on standard input and output, with two tools:

  record_decision    the agent records what was decided, as continuity decide does
  restate_decisions  after a compaction the agent says what is in force; the answers
                     go to the collector as digests, with the source "agent"

No tool says what is in force, or whether an answer was right.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir != "" && !filepath.IsAbs(dir) {
				dir = filepath.Join(a.dir, dir)
			}
			if dir != "" {
				a.dir = dir
			}
			transport := &mcp.IOTransport{Reader: io.NopCloser(a.in), Writer: keepOpen{a.out}}
			err := a.mcpServer().Run(cmd.Context(), transport)
			if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
				return nil // the host is gone
			}
			return err
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the project's `folder` (default: the working directory)")
	return c
}

// keepOpen leaves standard output to the process.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

const instructions = `Continuity checks whether decisions survive the compaction of your context.
Record a decision with record_decision when the user makes it or changes it.
After a compaction, restate what is in force with restate_decisions, from your own context only.`

func (a *app) mcpServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "continuity", Version: versionOf(debug.ReadBuildInfo()).Version}, &mcp.ServerOptions{Instructions: instructions})
	server.AddReceivingMiddleware(plainErrors)
	t := &tools{app: a, rounds: map[string]*round{}}
	closed := false
	mcp.AddTool(server, &mcp.Tool{
		Name: "record_decision",
		Description: "Record one decision that is in force from now on: where you may work (scope), what you work on (target), " +
			"the command that decides whether it is done (acceptance_test), what needs a human's yes (approval_boundary), " +
			"or what is forbidden (constraint.<action>). Record what the user decided, in the user's words, when it is decided.",
		Annotations: &mcp.ToolAnnotations{OpenWorldHint: &closed, DestructiveHint: &closed},
	}, t.record)
	mcp.AddTool(server, &mcp.Tool{
		Name: "restate_decisions",
		Description: "After a compaction of your context: say which decisions are in force, from your own context only. " +
			"Without answers it returns the questions. It never says whether an answer is right.",
		InputSchema: restateSchema(),
		Annotations: &mcp.ToolAnnotations{OpenWorldHint: &closed, DestructiveHint: &closed},
	}, t.restate)
	return server
}

// tools are what an agent can call. Calls may come at the same time.
type tools struct {
	*app
	mu     sync.Mutex
	rounds map[string]*round // by session and agent
}

type recordInput struct {
	Name    string `json:"name" jsonschema:"scope, target, acceptance_test, approval_boundary, constraint.<action>, or a name of the project's own"`
	Value   string `json:"value,omitempty" jsonschema:"what was decided, such as github.com/acme/payments, go test ./..., or forbidden, ask_first or allowed for a constraint"`
	None    bool   `json:"none,omitempty" jsonschema:"there is explicitly no such decision; leave out the value"`
	Session string `json:"session_id,omitempty" jsonschema:"the only session for which it holds; left out, it holds for the whole project"`
}

func (t *tools) record(_ context.Context, _ *mcp.CallToolRequest, in recordInput) (*mcp.CallToolResult, any, error) {
	cfg, err := t.project()
	if err != nil {
		return nil, nil, err
	}
	if (in.Value == "") != in.None {
		return nil, nil, errors.New("give a value, or none: true where there is explicitly no such decision")
	}
	if len(in.Value) > maxValue {
		return nil, nil, errors.New("the value is too long for a decision")
	}
	if in.Session != "" {
		if _, err := t.session(cfg, in.Session); err != nil {
			return nil, nil, err
		}
	}
	if _, err := cfg.Digester(); err != nil {
		return nil, nil, errors.New("the decision could not be recorded") // the error says where keys are
	}
	flags := decideFlags{session: in.Session, none: in.None}
	e, err := flags.entry(cfg, in.Name, in.Value, !in.None)
	if err != nil {
		return nil, nil, errors.New(forAgent.Replace(err.Error()))
	}
	e.Time = t.now().UTC()
	if err := cfg.Ledger().Append(e); err != nil {
		return nil, nil, errors.New("the decision could not be recorded") // the error may name a path
	}
	return say("Recorded."), nil, nil
}

// forAgent leaves out of an error the flags that a tool does not have.
var forAgent = strings.NewReplacer(
	"say --none", "say none: true and leave out the value",
	"; for prose, decide it with --as text", "", "; for a sentence, decide it with --as text", "",
	", or say it in prose with --as text", "",
)

// plainErrors words what the library says of arguments that do not fit: it would
// repeat them, values and all.
func plainErrors(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if r, ok := result.(*mcp.CallToolResult); ok && r.IsError && len(r.Content) == 1 {
			if t, ok := r.Content[0].(*mcp.TextContent); ok && strings.HasPrefix(t.Text, `validating "arguments"`) {
				t.Text = `the arguments do not fit the tool: names, values and ids are texts, and answers are a list of {"name": ..., "value": ...} or a map of names to values`
			}
		}
		return result, err
	}
}

type restateInput struct {
	Session string     `json:"session_id" jsonschema:"the session id that came with the question"`
	Agent   string     `json:"agent_id,omitempty" jsonschema:"the agent id, if one came with the question"`
	Answers answerList `json:"answers,omitempty"`
}

// answerList is a list of answers, or a map from names to them: models write both.
type answerList []answer

func (l *answerList) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, (*[]answer)(l)) == nil {
		return nil
	}
	var byName map[string]string
	if json.Unmarshal(text, &byName) != nil {
		return errAnswers // the library's error may cite them
	}
	*l = answerList{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		*l = append(*l, answer{name, byName[name]})
	}
	return nil
}

var errAnswers = errors.New("answers are neither a list nor a map")

// restateSchema says of answers what the type does not.
func restateSchema() *jsonschema.Schema {
	list, err := jsonschema.For[[]answer](nil)
	if err != nil {
		panic(err) // the type is known
	}
	schema, err := jsonschema.For[restateInput](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[answerList](): {
			Description: `one answer for each name, as a list or as {"name": "value"}; leave out to get the questions`,
			AnyOf: []*jsonschema.Schema{
				{Type: "array", Items: list.Items},
				{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "string"}},
			},
		},
	}})
	if err != nil {
		panic(err)
	}
	return schema
}

type answer struct {
	Name  string `json:"name" jsonschema:"the name, such as scope"`
	Value string `json:"value" jsonschema:"what is in force, or 'not decided', or 'I don't know'"`
}

func (t *tools) restate(ctx context.Context, _ *mcp.CallToolRequest, in restateInput) (*mcp.CallToolResult, any, error) {
	cfg, err := t.project()
	if err != nil {
		return nil, nil, err
	}
	seen, err := t.session(cfg, in.Session)
	if err != nil {
		return nil, nil, err
	}
	// What cannot be sent is refused here, and not only where there is something to
	// send: that would tell what is in force.
	session := continuity.Session{ID: in.Session, Attribute: seen.Attribute, Agent: in.Agent, Runtime: seen.Runtime}
	if _, err := (continuity.SessionEnd{Common: continuity.Common{Session: session}}).Attributes(); err != nil {
		return nil, nil, errors.New("no such agent: use the agent_id that came with the question, or none")
	}
	topics, err := topicsOf(cfg, in.Session)
	if err != nil {
		return nil, nil, errors.New("the decisions cannot be asked for now")
	}
	questions := ask.Questions(topics, ask.Seed(in.Session, seen.Event))
	if len(in.Answers) == 0 {
		return say(ask.Text(in.Session, in.Agent, questions)), nil, nil
	}
	again, err := t.take(ctx, cfg, seen, &in, questions)
	switch {
	case err != nil:
		return nil, nil, errors.New("the answers could not be passed on; go on with your work")
	case len(again) > 0:
		return say(ask.Retry(again)), nil, nil
	}
	return say("Thank you. Go on with your work."), nil, nil
}

func say(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func (t *tools) project() (*config.Config, error) {
	cfg, err := t.config()
	if err != nil {
		return nil, err
	}
	return cfg, cfg.Need()
}

// session is what hooks saw last of a session. One that none has seen is refused:
// under an invented id an answer would meet nothing.
func (t *tools) session(cfg *config.Config, id string) (sessions.Seen, error) {
	seen, known, err := sessionsOf(cfg).Last(id)
	if err == nil && known {
		return seen, nil
	}
	if s := cfg.Session; s.ID != "" && s.ID == id {
		return sessions.Seen{Session: s.ID, Attribute: s.Attribute, Agent: s.Agent, Runtime: s.Runtime}, nil
	}
	return sessions.Seen{}, errors.New("no such session was seen here: use the session_id that came with the question")
}
