// Mouse, keyboard, colors and print.

function onListClick(e) {
  const section = e.target.closest(".row");
  if (!section) return;
  const row = data.rows[Number(section.dataset.row)];
  if (e.target.closest("[data-do=unzoom]")) return unzoom(row);
  const mark = e.target.closest(".mark"), loss = e.target.closest(".loss");
  if (mark) return pick(row, mark);
  if (loss) {
    const b = row.b[Number(loss.dataset.b)];
    goTo(row, b, b.r[0], true);
    openPanel();
  }
}

// pick opens a boundary. Several at one place are given room first.
function pick(row, mark) {
  const fitting = mark.points.filter((p) => matches(row, p.b)), p = fitting[0] || mark.points[0];
  if (mark.boundaries.size > 1 && zoomTo(row, mark.points)) return goTo(row, p.b, p.r, true);
  goTo(row, p.b, mark.boundaries.size > 1 ? p.r : last(mark.points).r, true);
  openPanel();
}

// onHover gives a mark its title when it is asked for: most never are.
function onHover(e) {
  const mark = e.target.closest(".mark");
  if (mark && !mark.querySelector("title")) mark.prepend(svg("title", {}, mark.getAttribute("aria-label")));
}

function onPanelClick(e) {
  const button = e.target.closest("button");
  if (!button) return;
  if (button.dataset.copy) return copy(button);
  if (button.dataset.rev) {
    goTo(current.row, current.b, current.b.r.find((r) => r.n === Number(button.dataset.rev)), false);
    return panel.querySelector("[data-rev][aria-current=true]")?.focus();
  }
  const by = { before: -1, after: 1 }[button.dataset.do];
  if (button.dataset.do === "close") return closePanel(true);
  if (by) {
    const b = current.row.b[current.b.n + by];
    if (b) goTo(current.row, b, stands(b), false);
    (panel.querySelector(`[data-do=${button.dataset.do}]:not(:disabled)`) || panel.querySelector("h2")).focus();
  }
}

function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = e.target.closest("input, select, textarea"), inPanel = panel.contains(e.target), mark = e.target.closest(".mark");
  const key = e.key;
  if (key === "Escape") {
    if (e.target === byId("find") && byId("find").value) {
      byId("find").value = "";
      wanted.find = [];
      apply();
    } else if (!panel.hidden) closePanel(true);
    else if (!byId("help").hidden) toggleHelp();
    else if (typing) e.target.blur();
    else if (current && current.row.zoom) unzoom(current.row);
    return;
  }
  if (typing || (inPanel && !["/", "?"].includes(key))) return;
  const inBar = e.target.closest("button, a");
  if (inBar && (key === "Enter" || key === " ")) return;
  const does = {
    "/": () => { byId("find").focus(); byId("find").select(); },
    "?": toggleHelp,
    ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowUp: () => stepRow(-1), ArrowDown: () => stepRow(1),
    "+": () => zoom(.5), "=": () => zoom(.5), "-": () => zoom(2), "0": () => current && unzoom(current.row),
  };
  if (mark || e.target === list) {
    does.Home = () => goEnd(true);
    does.End = () => goEnd(false);
    does.Enter = does[" "] = () => {
      if (!current) return goFirst();
      openPanel();
      panel.querySelector("h2").focus({ preventScroll: true });
    };
  }
  if (!does[key]) return;
  e.preventDefault();
  does[key]();
}

function toggleHelp() {
  const help = byId("help");
  help.hidden = !help.hidden;
  byId("help-button").setAttribute("aria-expanded", String(!help.hidden));
  if (!help.hidden) help.scrollIntoView({ block: "nearest" });
  render();
}

function buildHelp() {
  const sample = (...children) => { const s = svg("svg", { viewBox: "0 0 78 24", class: "time forced", "aria-hidden": "true" }); s.append(...children.flat()); return s; };
  const flag = (x, text) => [svg("circle", { class: "flag", cx: x, cy: 12, r: 7 }), svg("text", { class: "flag-text", x, y: 15.2 }, text)];
  const bar = (name, end) => [svg("rect", { x: 4, y: 5, width: 66, height: 14, rx: 2, fill: `url(#hatch-${name})` }),
    svg("path", { class: "edge stroke s-" + name, fill: "none", "stroke-width": 1.5, d: "M4 5h66M4 19h66" }), svg("path", { class: "stroke s-" + name, fill: "none", "stroke-width": 3, d: "M4 3v18" + end })];
  const lines = (title, pairs) => el("div", {}, el("h3", {}, title), el("dl", {}, pairs.map(([dt, dd]) => [el("dt", {}, dt), el("dd", {}, dd)])));
  byId("help").append(
    lines("In a session", [
      [sample(svg("path", { class: "work", d: "M2 6h30v12h-30zM38 6h12v12h-12zM60 6h16v12h-16z" })), "What the agent did: its spans and log records."],
      [sample(svg("path", { class: "work-err", d: "M34 7l9 9m0 -9l-9 9" })), "An error of the agent's own."],
      [sample(svg("path", { class: "seen", d: "M38 5v12m-4 -5l4 5l4 -5" })), "It stated decisions, or a compaction ended."],
      [sample(svg("path", { class: "win", d: "M8 19V8H40V19" }), svg("path", { class: "win-rest", d: "M43 8H70V15" })), "A window: until the decision, and what was left of it."],
      [sample(bar("dropped", "M70 3v18")), "A loss, from the receipt that raised it to the one that cleared it."],
      [sample(bar("conflicting", "M64 7l6 5l-6 5")), "One that is still outstanding in the last receipt."],
      [sample(flag(26, "!"), flag(52, "✓")), "An alert fires; it is resolved or closed."],
    ]),
    lines("A boundary", [...worstFirst.map((n) => [icon(stateName(n)), titles[stateName(n)] + ": " + meaning("states", stateName(n)) + "."]),
      ["×12", "Twelve boundaries at one place, drawn as the worst. A click makes room."], ["smaller", "A later revision of a boundary, joined to the first."]]),
    lines("Keys", [[el("span", {}, el("kbd", {}, "←"), " ", el("kbd", {}, "→")), "Boundary before and after."], [el("span", {}, el("kbd", {}, "↑"), " ", el("kbd", {}, "↓")), "Session above and below."],
      [el("span", {}, el("kbd", {}, "Home"), " ", el("kbd", {}, "End")), "First and last boundary."], [el("kbd", {}, "Enter"), "Details."], [el("kbd", {}, "Esc"), "Back: closes the details, then the whole session."],
      [el("span", {}, el("kbd", {}, "+"), " ", el("kbd", {}, "−"), " ", el("kbd", {}, "0")), "Closer, farther, the whole session."], [el("kbd", {}, "/"), "Search."], [el("kbd", {}, "?"), "This help."]]));
}

const themes = [["", "System", "◐", "as the system has them"], ["light", "Light", "☀", "light"], ["dark", "Dark", "☾", "dark"]];
let theme = 0;
function nextTheme() {
  theme = (theme + 1) % themes.length;
  const [value, text, sign, label] = themes[theme];
  if (value) document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
  byId("theme-text").textContent = text;
  byId("theme-icon").textContent = sign;
  byId("theme").setAttribute("aria-label", "Colors: " + label);
}

// howItStands sums up the last receipts. What is not known is not said to be well.
function howItStands() {
  const lost = data.rows.filter((row) => row.outstanding).length;
  const unknown = data.rows.filter((row) => !row.outstanding && stateName(row.s) !== "preserved" && stateName(row.s) !== "approved_change").length;
  const parts = [lost ? plural(lost, "timeline") + (lost === 1 ? " has" : " have") + " something outstanding" : "", unknown ? (lost ? "" : "Of ") + plural(unknown, "timeline") + " it is not known" : ""];
  return lost || unknown ? parts.filter(Boolean).join(", of ") + "." : "No last receipt says that something is outstanding.";
}

function start() {
  const boundaries = data.rows.reduce((n, row) => n + row.b.length, 0), receipts = data.rows.reduce((n, row) => n + row.points.length, 0);
  const timed = data.rows.filter((row) => !row.no), sessions = new Set(data.rows.map((row) => row.id)).size;
  byId("facts").append(el("b", {}, plural(sessions, "session")), data.rows.length > sessions ? ` (${plural(data.rows.length, "timeline")})` : "", ", ", el("b", {}, plural(boundaries, "boundary", "boundaries")), ", " + plural(receipts, "receipt") + ". ",
    el("b", {}, howItStands() + " "),
    timed.length ? `From ${moment(Math.min(...timed.map((r) => r.first))).slice(0, 19)} to ${moment(Math.max(...timed.map((r) => r.latest))).slice(0, 19)} UTC. ` : "",
    ...(data.sources.length ? ["Files: ", bdi(data.sources.join(", ")), "."] : []));
  byId("notes").append(...data.notes.map((n) => el("li", {}, n)));
  byId("notes").hidden = !data.notes.length;
  buildFilters();
  buildHelp();
  list.tabIndex = 0;
  apply();
  list.addEventListener("click", onListClick);
  list.addEventListener("pointerover", onHover);
  list.addEventListener("focus", () => { if (!current && list.matches(":focus-visible")) goFirst(); });
  panel.addEventListener("click", onPanelClick);
  document.addEventListener("keydown", onKey);
  byId("help-button").addEventListener("click", toggleHelp);
  byId("theme").addEventListener("click", nextTheme);
  let asked = false;
  const later = (f) => () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; f(); });
  };
  addEventListener("scroll", later(() => { render(); fitPanel(); }), { passive: true });
  let width = list.clientWidth;
  new ResizeObserver(() => {
    if (list.clientWidth === width) return;
    width = list.clientWidth;
    requestAnimationFrame(layout);
  }).observe(list);
  addEventListener("resize", later(() => { render(); fitPanel(); }));
  addEventListener("beforeprint", () => { all = true; render(); });
  addEventListener("afterprint", () => { all = false; render(); });
}
start();
