package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/report"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

func rendered(t testing.TB, m *report.Model) []byte {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, report.Render(&page, m))
	return page.Bytes()
}

func modelOf(all []*boundary.Receipt) *report.Model {
	in := report.NewInput()
	in.AddTraces(writer.Traces(all))
	m := in.Model()
	m.Title = "Ten thousand boundaries"
	return m
}

const (
	marksShown = "document.querySelectorAll('.mark').length"
	focused    = "document.activeElement.getAttribute('aria-label') || document.activeElement.id || document.activeElement.tagName"
	panelText  = "document.querySelector('#panel').innerText"
	rowNames   = "[...document.querySelectorAll('.row h2')].map((e) => e.textContent)"
)

func TestPage(t *testing.T) {
	b := startBrowser(t)
	b.window(1360, 940)
	b.scheme("light")
	page := rendered(t, tale().read(t))
	on := func(name string, test func(*testing.T)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			whole := b.t
			b.t = t
			defer func() { b.t = whole }()
			b.open(page)
			test(t)
			b.faultless()
		})
	}
	on("what is drawn", func(t *testing.T) {
		b.shot("light")
		assert.Equal(t, []string{"billing-export", "nightly-upgrade", "checkout-refactor", "docs-site", "ticket-4411"}, b.all(rowNames))
		assert.Equal(t, []string{"2", "1", "1", "1", "5"}, b.all("[...document.querySelectorAll('.state .n')].map((e) => e.textContent)"))
		assert.InDelta(t, 13, b.number(marksShown), 0, "a mark for each receipt")
		losses := b.all("[...document.querySelectorAll('.loss title')].map((e) => e.textContent)")
		assert.Contains(t, losses, "approval_boundary dropped, restored after 24 min 10 s")
		assert.Contains(t, losses, "scope conflicting, still outstanding")
		assert.True(t, b.holds("document.querySelectorAll('.row path.work').length === 5 && document.querySelectorAll('.row path.win').length === 5"))
		assert.Contains(t, b.text("document.querySelector('#facts').innerText"), "2 timelines have something outstanding")
	})
	on("keyboard", func(t *testing.T) {
		b.openList()
		assert.Contains(t, b.text(focused), "Boundary 1 of 2: conflicting, changed without approval")
		b.press("ArrowRight")
		assert.Contains(t, b.text(focused), "Boundary 2 of 2")
		b.press("ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight")
		assert.Contains(t, b.text(focused), "Boundary 2 of 4: dropped, missing after")
		b.press("End")
		assert.Contains(t, b.text(focused), "Boundary 4 of 4")
		b.press("Home", "ArrowRight", "Enter")
		assert.Equal(t, "H2", b.text("document.activeElement.tagName"))
		b.shot("details")
		text := b.text(panelText)
		for _, want := range []string{"pause the agent and give it back what it lost", "approval_boundary", "the decision is gone, and nobody approved that", "decision dropped firing"} {
			assert.Contains(t, text, want)
		}
		b.press("Escape")
		assert.True(t, b.holds("document.querySelector('#panel').hidden"))
		assert.Contains(t, b.text(focused), "Boundary 2 of 4", "the focus is back where it was")
		b.press("+")
		assert.True(t, b.holds("document.querySelector('[data-do=unzoom]')"))
		b.press("Escape")
		assert.False(t, b.holds("document.querySelector('[data-do=unzoom]')"))
		b.press("/")
		assert.Equal(t, "find", b.text("document.activeElement.id"))
		b.press("Escape", "?")
		b.press("?")
	})
	on("details", func(t *testing.T) {
		b.eval("[...document.querySelectorAll('.row')].find((e) => e.textContent.includes('docs-site')).querySelector('.mark').dispatchEvent(new MouseEvent('click', {bubbles: true}))", nil)
		text := b.text(panelText)
		for _, want := range []string{"Approved change", "approved transition", "CHG-17", "by release-desk", "without a signature", "go on, and let somebody read what was approved"} {
			assert.Contains(t, text, want)
		}
		trace := b.text("[...document.querySelectorAll('#panel .id code')].at(-3).textContent")
		assert.Regexp(t, "^[0-9a-f]{32}$", trace)
		b.call("Browser.grantPermissions", map[string]any{"permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"}}, nil)
		b.eval("[...document.querySelectorAll('#panel [data-copy]')].at(-3).scrollIntoView()", nil)
		b.eval("[...document.querySelectorAll('#panel [data-copy]')].at(-3).click()", nil)
		b.eval("new Promise((f) => setTimeout(f, 50))", nil)
		assert.Equal(t, "Copied", b.text("[...document.querySelectorAll('#panel [data-copy]')].at(-3).textContent"))
		b.shot("approval")
		b.eval("[...document.querySelectorAll('.row')].find((e) => e.textContent.includes('ticket-4411')).querySelectorAll('.mark')[1].dispatchEvent(new MouseEvent('click', {bubbles: true}))", nil)
		text = b.text(panelText)
		assert.Contains(t, text, "revision 2 of 2")
		assert.Contains(t, text, "whoever resumes the agent has to decide anew what it may do")
		b.shot("envelope")
		b.click("#panel [data-rev='1']")
		assert.Contains(t, b.text(panelText), "it is not known whether an effect took place")
	})
	on("filters", func(t *testing.T) {
		b.click("[data-state='3']")
		b.shot("filtered")
		assert.Equal(t, []string{"checkout-refactor"}, b.all(rowNames))
		assert.Equal(t, "1 of 10 boundaries, 1 of 5 timelines", b.text("document.querySelector('#count').textContent"))
		b.click("#reset")
		assert.Len(t, b.all(rowNames), 5)
		set := func(id, value string) {
			b.eval(fmt.Sprintf("(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event('change')); e.dispatchEvent(new Event('input')) })()", id, value), nil)
		}
		set("runtime", "opencode")
		assert.Equal(t, []string{"checkout-refactor"}, b.all(rowNames))
		set("runtime", "")
		set("invariant", "acceptance_test")
		assert.Len(t, b.all(rowNames), 4, "the ticket's only decision is its scope")
		b.click("[data-state='1']")
		assert.Equal(t, []string{"docs-site"}, b.all(rowNames))
		b.click("#reset")
		b.click("#open")
		assert.Equal(t, []string{"billing-export", "nightly-upgrade"}, b.all(rowNames))
		b.click("#open")
		set("find", "CHANGED scope")
		assert.Equal(t, []string{"billing-export"}, b.all(rowNames))
		set("find", "no such thing")
		assert.Contains(t, b.text("document.querySelector('#list').innerText"), "No boundary fits")
		b.press("Tab")
		b.click("#reset")
		assert.Len(t, b.all(rowNames), 5)
		set("scale", "one")
		b.shot("one-clock")
	})
	on("colors", func(t *testing.T) {
		ground := "getComputedStyle(document.documentElement).backgroundColor"
		light := b.text(ground)
		b.scheme("dark")
		b.shot("dark")
		dark := b.text(ground)
		assert.NotEqual(t, light, dark)
		b.click("#theme")
		assert.Equal(t, light, b.text(ground), "light, though the system is dark")
		b.scheme("light")
		b.click("#theme")
		assert.Equal(t, dark, b.text(ground))
		for _, kind := range []string{"deuteranopia", "protanopia", "tritanopia", "achromatopsia"} {
			b.call("Emulation.setEmulatedVisionDeficiency", map[string]any{"type": kind}, nil)
			b.shot("dark-" + kind)
			b.click("#theme")
			b.shot(kind)
			b.click("#theme")
			b.click("#theme")
		}
		b.call("Emulation.setEmulatedVisionDeficiency", map[string]any{"type": "none"}, nil)
	})
	on("contrast", func(t *testing.T) {
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			var pairs map[string]float64
			b.eval(contrasts, &pairs)
			for what, ratio := range pairs {
				least := 4.5
				if strings.HasPrefix(what, "shape") {
					least = 3 // of a shape, beside which a letter and a word stand
				}
				if what == "shape s-unverified" && scheme == "light" {
					least = 2 // its letter is dark, and its outline is that of a diamond
				}
				assert.GreaterOrEqual(t, ratio, least, "%s, %s", scheme, what)
			}
		}
		b.scheme("light")
	})
	on("a narrow window", func(t *testing.T) {
		b.window(420, 860)
		b.frames()
		b.shot("narrow")
		assert.True(t, b.holds("document.documentElement.scrollWidth <= innerWidth"), "nothing is beyond the edge")
		b.eval("scrollTo(0, 480)", nil)
		b.click(".mark")
		b.shot("narrow-details")
		assert.False(t, b.holds("document.querySelector('#panel').hidden"))
		b.window(1360, 940)
	})
	on("print", func(t *testing.T) {
		var pdf struct{ Data string }
		b.call("Page.printToPDF", map[string]any{"printBackground": true}, &pdf)
		assert.Greater(t, len(pdf.Data), 10_000)
		b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
		b.eval("dispatchEvent(new Event('beforeprint'))", nil)
		b.shot("print")
		b.eval("dispatchEvent(new Event('afterprint'))", nil)
		b.call("Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	})
}

// contrasts are those of texts on their grounds and of shapes on theirs.
const contrasts = `(() => {
	const style = getComputedStyle(document.documentElement), probe = document.createElement("i");
	document.body.append(probe);
	const light = (name) => {
		probe.style.color = style.getPropertyValue(name);
		const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 });
		return .2126 * r + .7152 * g + .0722 * b;
	};
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05) };
	const out = {};
	for (const ground of ["--bg", "--card", "--soft"]) for (const text of ["--text", "--dim"]) out["text " + text + " on " + ground] = ratio(text, ground);
	for (const s of ["preserved", "approved_change", "unverified", "dropped", "conflicting"]) {
		out["letter of " + s] = ratio("--i-" + s, "--s-" + s);
		out["shape s-" + s] = ratio("--s-" + s, "--card");
	}
	probe.remove();
	return out;
})()`
