package report_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// browser is a headless Chromium, driven by its DevTools protocol over two pipes:
// that needs no port, and no library.
type browser struct {
	t       *testing.T
	in      *os.File
	asks    chan ask
	session string
	// events that came, by method, since the page was opened.
	events chan message
}

type ask struct {
	id int
	to chan answer
}

type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	answer
}

var browsers = []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"}

// browserPath is the browser that CONTINUITY_BROWSER names, else one of PATH. The
// test is skipped where there is none.
func browserPath(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the browser is driven over pipes that Windows does not pass on")
	}
	if path := os.Getenv("CONTINUITY_BROWSER"); path != "" {
		return path
	}
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium in PATH: on Debian `apt-get install chromium`, or name one in CONTINUITY_BROWSER")
	return ""
}

func startBrowser(t *testing.T) *browser {
	t.Helper()
	path := browserPath(t)
	home, err := os.MkdirTemp("", "browser") // its children may write into it for a while
	require.NoError(t, err)
	args := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + home, "--disable-gpu", "--hide-scrollbars", "--no-first-run",
		"--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-color-profile=srgb",
	}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium refuses to start without, for root
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, append(args, "about:blank")...)
	theirIn, in, err := os.Pipe()
	require.NoError(t, err)
	out, theirOut, err := os.Pipe()
	require.NoError(t, err)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4
	require.NoError(t, cmd.Start())
	require.NoError(t, theirIn.Close())
	require.NoError(t, theirOut.Close())
	b := &browser{t: t, in: in, asks: make(chan ask, 16), events: make(chan message, 10_000)}
	go b.listen(out)
	t.Cleanup(func() {
		_ = in.Close() // the browser ends with its pipe
		cancel()
		_ = cmd.Wait() // it was killed
		_ = out.Close()
		_ = os.RemoveAll(home)
	})
	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// listen gives answers to those who asked, and keeps events.
func (b *browser) listen(out *os.File) {
	waiting := map[int]chan answer{}
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			close(b.events)
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		if m.ID == 0 {
			select {
			case b.events <- m:
			default:
			}
			continue
		}
		for waiting[m.ID] == nil {
			a := <-b.asks
			waiting[a.id] = a.to
		}
		waiting[m.ID] <- m.answer
		delete(waiting, m.ID)
	}
}

var lastID int

// call calls a method of the protocol and waits for its result.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	lastID++
	a := ask{lastID, make(chan answer, 1)}
	b.asks <- a
	request := map[string]any{"id": a.id, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	require.NoError(b.t, err)
	_, err = b.in.Write(append(text, 0))
	require.NoError(b.t, err)
	timeout, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	select {
	case got := <-a.to:
		require.Nil(b.t, got.Error, "%s: %+v", method, got.Error)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(got.Result, result))
		}
	case <-timeout.Done():
		b.t.Fatalf("%s: the browser does not answer", method)
	}
}

// eval runs a script in the page and waits for what it gives.
func (b *browser) eval(script string, result any) {
	b.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &got)
	require.Nil(b.t, got.ExceptionDetails, "%s: %+v", script, got.ExceptionDetails)
	if result != nil {
		require.NoError(b.t, json.Unmarshal(got.Result.Value, result), script)
	}
}

// text, number and truth are what a script gives.
func (b *browser) text(script string) (s string)    { b.t.Helper(); b.eval(script, &s); return s }
func (b *browser) number(script string) (n float64) { b.t.Helper(); b.eval(script, &n); return n }
func (b *browser) holds(script string) (is bool) {
	b.t.Helper()
	b.eval("Boolean("+script+")", &is)
	return is
}

func (b *browser) all(script string) (list []string) {
	b.t.Helper()
	b.eval(script, &list)
	return list
}

// frames waits until the page was drawn.
func (b *browser) frames() {
	b.eval("new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(() => f(1))))", nil)
}
