package send

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
)

const protobuf = "application/x-protobuf"

// maxAnswer is as much of an answer as is read.
const maxAnswer = 64 << 10

func newClient() *http.Client {
	return &http.Client{
		// A redirect would take headers, which may be tokens, elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is a collector's refusal.
type answer struct {
	status int
	says   string
}

func (a *answer) Error() string {
	text := fmt.Sprintf("the collector answered %d %s", a.status, http.StatusText(a.status))
	if a.status == http.StatusOK {
		text = "the collector took the request and rejected the event"
	}
	if a.says != "" {
		text += ": " + a.says
	}
	return text
}

// errNoOTLP: something answers, but it is no OTLP endpoint.
var errNoOTLP = errors.New("the endpoint does not speak OTLP over HTTP")

// isPermanent reports whether sending the same again is of no use.
func isPermanent(err error) bool {
	var a *answer
	if !errors.As(err, &a) {
		return false
	}
	if a.status == http.StatusOK { // partial success
		return true
	}
	return a.status >= 400 && a.status < 500 && !isAway(err)
}

// isAway reports whether others would fare no better: the collector cannot be
// reached, is busy, does not let us in or is not there where we ask. A token that
// expired must not cost an event. Any other answer may be about the one event.
func isAway(err error) bool {
	var a *answer
	if !errors.As(err, &a) {
		return true
	}
	switch a.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusRequestTimeout, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return a.status >= 300 && a.status < 400
}

// post sends one event and returns nil once a collector has it.
func (s *Sender) post(ctx context.Context, it *item) error {
	body, encoding, err := s.compress(it.Body)
	if err != nil {
		return err
	}
	target := s.cfg.Endpoint + map[config.Signal]string{config.Logs: "/v1/logs", config.Traces: "/v1/traces"}[it.Signal]
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return errors.New("the endpoint is no URL")
	}
	request.Header.Set("Content-Type", protobuf)
	request.Header.Set("User-Agent", "continuity")
	if encoding != "" {
		request.Header.Set("Content-Encoding", encoding)
	}
	for name, value := range s.cfg.Headers {
		request.Header.Set(name, value)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return reachError(err)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return reachError(err)
	}
	return judge(response, text)
}

func (s *Sender) compress(body []byte) (compressed []byte, encoding string, err error) {
	if !s.cfg.Gzip {
		return body, "", nil
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err = w.Write(body)
	err = errors.Join(err, w.Close())
	return out.Bytes(), "gzip", err
}

func judge(response *http.Response, body []byte) error {
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode < 200 || response.StatusCode > 299 {
		a := &answer{status: response.StatusCode}
		if media == protobuf {
			_, a.says = status(body)
		}
		return a
	}
	switch {
	case media == protobuf:
		partial, _ := field(body, 1)
		if rejected, says := status(partial); rejected > 0 {
			return &answer{status: http.StatusOK, says: says}
		}
	case strings.HasPrefix(media, "text/"):
		return errNoOTLP // some web page that says yes to all
	}
	return nil
}

// status reads the number in field 1 and the text in field 2: those of a partial
// success and of google.rpc.Status alike.
func status(message []byte) (number uint64, says string) {
	_, number = field(message, 1)
	text, _ := field(message, 2)
	says = term.Clean(string(text)) // it ends up on a terminal
	if runes := []rune(says); len(runes) > 200 {
		says = string(runes[:200]) + "…"
	}
	return number, says
}

// field finds a field of a protobuf message: bytes or a number.
func field(message []byte, want protowire.Number) (content []byte, number uint64) {
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, 0
		}
		message = message[n:]
		size := protowire.ConsumeFieldValue(num, kind, message)
		if size < 0 {
			return nil, 0
		}
		if num == want {
			if kind == protowire.BytesType {
				content, _ = protowire.ConsumeBytes(message)
			}
			if kind == protowire.VarintType {
				number, _ = protowire.ConsumeVarint(message)
			}
		}
		message = message[size:]
	}
	return content, number
}

// reachError says shortly why nothing answered.
func reachError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the collector did not answer in time")
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("the sending was interrupted")
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return fmt.Errorf("the collector cannot be reached: %w", op)
	}
	var u *url.Error
	if errors.As(err, &u) {
		return fmt.Errorf("the collector cannot be reached: %w", u.Err)
	}
	return fmt.Errorf("the collector cannot be reached: %w", err)
}
