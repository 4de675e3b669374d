package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/report"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// The page allows its own style and script, by their digests, and nothing else.
func TestPolicy(t *testing.T) {
	page := string(rendered(t, tale().read(t)))
	assert.True(t, strings.HasPrefix(page, report.Marker))
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	require.NotNil(t, policy)
	between := func(from, to string) string {
		at := strings.LastIndex(page, from) + len(from)
		return page[at : at+strings.Index(page[at:], to)]
	}
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	assert.Equal(t, "default-src 'none'; script-src "+hash(between("\n<script>", "</script>"))+"; style-src "+hash(between("<style>", "</style>"))+
		"; base-uri 'none'; form-action 'none'", html.UnescapeString(policy[1]))
	assert.NotRegexp(t, `(?i)\b(src|href)="[^#]`, page, "nothing is loaded, and no link leads elsewhere")
	assert.Empty(t, regexp.MustCompile(`https?://[^"'\s]*`).FindAllString(strings.ReplaceAll(page, `"http://www.w3.org/2000/svg"`, ""), -1))
}

// The block of data is JSON, whatever is in it, and ends where it should.
func TestDataIsJSON(t *testing.T) {
	m := tale().read(t)
	m.Title = hostile[0]
	for i, row := range m.Rows {
		row.Session, row.Agent = hostile[i], strings.Join(hostile, " ")
	}
	page := string(rendered(t, m))
	assert.Equal(t, 3, strings.Count(page, "<script"), "words, data and the script")
	assert.Equal(t, 3, strings.Count(page, "</script>"))
	_, data, _ := strings.Cut(page, `id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	var got report.Model
	require.NoError(t, json.Unmarshal([]byte(data), &got))
	assert.Equal(t, hostile[0], got.Rows[0].Session)
	assert.NotContains(t, data, "<")
	assert.Contains(t, page, "<title>"+html.EscapeString(hostile[0])+"</title>")
}

// What is read is cleaned before it is shown: no file can hide a part of a line,
// turn it round, or be ten thousand characters long.
func TestTextsAreCleaned(t *testing.T) {
	in := report.NewInput()
	for _, id := range hostile {
		ld := writer.Logs(many(1, 1))
		records(ld)[0].Attributes().PutStr(semconv.ConversationID, id)
		records(ld)[0].Attributes().PutStr(semconv.Runtime, id)
		in.AddLogs(ld)
	}
	for _, row := range in.Model().Rows {
		for _, text := range []string{row.Session, row.Runtime} {
			assert.LessOrEqual(t, len([]rune(text)), 201)
			assert.NotRegexp(t, "[\\x00-\\x1f\u202a-\u202e\u2066-\u2069\u2028\ufeff]", text)
		}
	}
}

// Nothing that the page says of its own accord says that somebody may do something.
func TestNothingIsAllowed(t *testing.T) {
	files, err := os.ReadDir("page")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile("page/" + f.Name())
		require.NoError(t, err)
		said := string(text)
		for _, none := range []string{ // these say the contrary
			"the agent still has to be authorized anew", "no new authorization is needed", "another mode of authorization", "Nothing on this page permits anything",
			"reauthorization_required", "reauthorization_not_required", "authorization_mode_changed",
		} {
			said = strings.ReplaceAll(said, none, "")
		}
		assert.NotRegexp(t, `(?i)authori[sz]|permit|allowed|may proceed|safe to|is safe|granted`, said, f.Name())
	}
}
