package report_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// keys are those that tests press, with what the protocol wants to know of them.
var keys = map[string][2]any{
	"Tab": {"Tab", 9}, "Enter": {"Enter", 13}, "Escape": {"Escape", 27}, "ArrowLeft": {"ArrowLeft", 37}, "ArrowUp": {"ArrowUp", 38},
	"ArrowRight": {"ArrowRight", 39}, "ArrowDown": {"ArrowDown", 40}, "Home": {"Home", 36}, "End": {"End", 35}, "/": {"Slash", 191}, "+": {"Equal", 187},
	"?": {"Slash", 191}, "0": {"Digit0", 48},
}

func (b *browser) press(names ...string) {
	b.t.Helper()
	for _, name := range names {
		key, known := keys[name]
		require.True(b.t, known, name)
		params := map[string]any{"type": "keyDown", "key": name, "code": key[0], "windowsVirtualKeyCode": key[1]}
		if len(name) == 1 {
			params["text"] = name
		}
		if name == "Enter" {
			params["text"] = "\r"
		}
		b.call("Input.dispatchKeyEvent", params, nil)
		b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": key[0], "windowsVirtualKeyCode": key[1]}, nil)
	}
	b.frames()
}

// click clicks into the middle of the first element that fits.
func (b *browser) click(selector string) {
	b.t.Helper()
	var p struct{ X, Y float64 }
	b.eval(fmt.Sprintf("(() => { const e = document.querySelector(%q); e.scrollIntoView({block: 'nearest'}); const b = e.getBoundingClientRect(); return {X: b.x + b.width / 2, Y: b.y + b.height / 2} })()", selector), &p)
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": p.X, "y": p.Y, "button": "left", "clickCount": 1}, nil)
	}
	b.frames()
}

func (b *browser) window(width, height int) {
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

func (b *browser) scheme(value string) {
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": value}}}, nil)
}

// open opens a page from a file and waits until its script has run.
func (b *browser) open(page []byte) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "report.html")
	require.NoError(b.t, os.WriteFile(path, page, 0o600))
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	b.eval(`new Promise((f) => document.readyState === "complete" ? f(1) : addEventListener("load", () => f(1)))`, nil)
	b.frames()
}

// shot writes a picture into the folder CONTINUITY_REPORT_SHOTS, if there is one.
func (b *browser) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("CONTINUITY_REPORT_SHOTS")
	if dir == "" {
		return
	}
	b.frames()
	var got struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &got)
	png, err := base64.StdEncoding.DecodeString(got.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.MkdirAll(dir, 0o755))
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600))
}
