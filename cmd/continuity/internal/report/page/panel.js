// The details of one boundary: everything that its receipts say, in words.

const panel = byId("panel");

function closePanel(focus) {
  if (panel.hidden) return;
  const inside = panel.contains(document.activeElement);
  panel.hidden = true;
  layout(); // the list has more room again
  if (focus || inside) focusMark();
}

// fitPanel keeps the panel's end on the screen while the page's head still is.
function fitPanel() {
  if (panel.hidden) return;
  const box = panel.getBoundingClientRect();
  panel.style.maxHeight = getComputedStyle(panel).position === "sticky" ? Math.max(innerHeight - box.top - 14, 260) + "px" : "";
}

function section(title, ...children) {
  const body = children.flat(Infinity).filter(Boolean);
  return body.length ? el("section", {}, el("h3", {}, title), ...body) : null;
}

function facts(pairs) {
  const dl = el("dl", { class: "kv" });
  for (const [key, value] of pairs) if (value !== null && value !== undefined && value !== "") dl.append(el("dt", {}, key), el("dd", {}, value));
  return dl.children.length ? dl : null;
}

function idLine(text) {
  if (!text) return null;
  const button = el("button", { type: "button", "data-copy": text }, "Copy");
  return el("div", { class: "id" }, el("code", {}, bdi(text)), button);
}

async function copy(button) {
  const text = button.dataset.copy;
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    const range = document.createRange(); // without the clipboard the text is selected, to be copied by hand
    range.selectNodeContents(button.previousSibling);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    done = document.execCommand("copy");
  }
  button.textContent = done ? "Copied" : "Selected";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

function openPanel() {
  if (!current) return;
  const { row, b, r } = current, name = stateName(r.b);
  const wasHidden = panel.hidden;
  panel.hidden = false;
  const button = (label, text, does, off) => el("button", { type: "button", "aria-label": label, title: label, "data-do": does, disabled: off }, text);
  panel.replaceChildren(
    el("div", { class: "panel-head" },
      el("div", { class: "line" }, icon(name), el("h2", { tabindex: -1 }, titles[name]),
        el("div", { class: "steps" }, button("Boundary before", "←", "before", b.n === 0), button("Boundary after", "→", "after", b.n === row.b.length - 1), button("Close the details", "✕", "close"))),
      el("div", { class: "who" }, el("span", { class: "mono" }, bdi(row.id)), row.agent ? [" · agent ", bdi(row.agent)] : "",
        ` · boundary ${b.n + 1} of ${row.b.length}` + (b.r.length > 1 ? `, revision ${r.n} of ${last(b.r).n}` : ""))),
    ...[said(row, r), todo(r), findings(r), alerts(r), approvals(row, b, r), validation(r), course(row, b, r), history(b, r), ids(b, r)].filter(Boolean));
  panel.scrollTop = 0;
  fitPanel();
  if (wasHidden) {
    layout();
    const box = placed.get(row.place)?.getBoundingClientRect(); // the panel may lie on the row that it is about
    if (box && panel.getBoundingClientRect().width >= innerWidth - 20 && box.bottom > panel.getBoundingClientRect().top) {
      scrollBy(0, Math.min(box.bottom - panel.getBoundingClientRect().top + 10, box.top - 10));
    }
  }
}

function said(row, r) {
  const p = [el("p", {}, el("b", {}, plain(r.y || "no reason")), ": " + (meaning("reasons", r.y) || meaning("checks", r.y) || meaning("states", stateName(r.b)) || "a reason that is not known here") + ".")];
  if (r.s !== r.b) {
    p.push(el("p", { class: "warn" }, "The session as a whole is ", el("b", {}, plain(stateName(r.s))),
      r.s > r.b ? ": something from before is still outstanding. A boundary that went well clears nothing else." : ": what was found here is cleared."));
  }
  if (r.foreign) p.push(el("p", { class: "warn" }, "Not written by Continuity's processor: somebody else says so."));
  if (r.chg) p.push(el("p", { class: "warn" }, "Changed while nobody looked: ", bdi(r.chg.join(", ")), "."));
  return section("What was found", p);
}

function todo(r) {
  const items = (r.a || []).map((a) => el("li", {}, el("b", {}, plain(a)), el("span", { class: "dim" }, meaning("actions", a) ? ": " + meaning("actions", a) : "")));
  return items.length ? section("What to do", el("ul", { class: "todo" }, items)) : null;
}

function findings(r) {
  const all = findingsOf(r);
  if (!all.length) return section("Decisions", el("p", { class: "dim" }, "The receipt names no decision."));
  const body = el("tbody");
  for (const f of all) {
    const name = stateName(f.s), more = [];
    if (f.src) more.push("seen by " + f.src);
    if (f.ref) more.push("approval " + f.ref);
    if (f.rev) more.push("revision " + f.rev);
    if (f.ch) more.push("one of " + plural(f.ch, "choice"));
    body.append(el("tr", {},
      el("td", {}, el("span", { class: "in mono" }, bdi(f.n)), el("span", { class: "why" }, bdi(more.join(" · ")))),
      el("td", {}, el("span", { class: "st" }, icon(name), plain(name)), el("span", { class: "why" }, plain(f.y || "no reason"), meaning("reasons", f.y) ? ": " + meaning("reasons", f.y) : ""))));
  }
  return section("Decisions", el("table", { class: "finds" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Invariant"), el("th", { scope: "col" }, "State and reason"))), body));
}

function alerts(r) {
  return section("Alerts", (r.al || []).map((a) => el("div", {},
    el("p", {}, el("b", {}, plain(a.k) + " " + a.s), ": " + (a.s === "firing" ? meaning("alerts", a.k) : meaning("alertStatuses", a.s)) + "."),
    facts([["About", a.i ? bdi(a.i.join(", ")) : null], ["Since", a.since ? bdi(a.since) : null], ["Fingerprint", idLine(a.fp)]]))));
}

function approvals(row, b, r) {
  const names = new Set(findingsOf(r).map((f) => f.n));
  const seen = row.ev.filter((e) => e.k === "approval" && names.has(e.inv)).slice(0, 20);
  const refs = findingsOf(r).filter((f) => f.ref);
  const out = [];
  if (r.sig !== undefined) out.push(el("p", {}, r.sig ? "All approvals that were used were signed by a configured key." : "Not all approvals that were used were signed by a configured key."));
  for (const f of refs) out.push(el("p", {}, el("span", { class: "mono" }, bdi(f.n)), " names ", el("b", {}, bdi(f.ref)), ". The reference alone approves nothing."));
  for (const e of seen) {
    out.push(el("p", {}, el("span", { class: "mono" }, bdi(e.inv)), `: ${e.s} `, el("b", {}, bdi(e.ref)), e.by ? [" by ", bdi(e.by)] : "",
      e.sig ? ", with a signature" : ", without a signature", el("span", { class: "dim" }, ` (as sent, ${moment(e.t)})`)));
  }
  return section("Approvals", out);
}

function validation(r) {
  if (!r.val) return null;
  const checks = (r.val.f || []).map((f) => el("li", {}, plain(f), el("span", { class: "dim" }, meaning("checks", f) ? ": " + meaning("checks", f) : "")));
  return section("Envelope", el("p", {}, el("b", {}, plain(r.val.s)), meaning("validations", r.val.s) ? ": " + meaning("validations", r.val.s) + "." : ""),
    r.val.y ? el("p", {}, plain(r.val.y), el("span", { class: "dim" }, meaning("checks", r.val.y) ? ": " + meaning("checks", r.val.y) + "." : "")) : null,
    checks.length ? el("ul", { class: "todo" }, checks) : null,
    el("p", { class: "dim" }, "In every case, whoever resumes the agent has to decide anew what it may do."));
}

function course(row, b, r) {
  const opened = b.r[0].o, events = row.ev.filter((e) => e.t <= r.t && (b.n === 0 || e.t > row.b[b.n - 1].r[0].t)).slice(-12);
  const window = r.w ? long(r.w * 1e6) + (r.late ? "; the observation came after it had closed" : "") : null;
  return section("Course", facts([
    ["Decided", row.no || r.nt ? "no time in the file" : moment(r.t) + " UTC"],
    ["Opened", opened >= 0 ? moment(opened) + " UTC" + ({ window: ", by the window that closed", events: ", by the agent's own events" }[b.r[0].og] || `, ${long(b.r[0].t - opened)} before`) : "not said: only a receipt's span says when"],
    ["Window", window],
    ["Known", r.cov ? meaning("coverages", r.cov) || r.cov : null],
    ["Compaction", [r.trig, r.out ? plain(r.out) + (meaning("outcomes", r.out) ? " (" + meaning("outcomes", r.out) + ")" : "") : ""].filter(Boolean).join(", ")],
    ["Tokens", r.tb || r.ta ? (r.tb || 0).toLocaleString("en") + " before, " + (r.ta || 0).toLocaleString("en") + " after" : null],
    ["Writes", r.wr ? plural(r.wr, "edit or command", "edits and commands") + " before the first look" : null],
    ["Joined", r.sup ? plural(r.sup, "further snapshot or completion", "further snapshots and completions") : null],
    ["Activity", r.as ? bdi(r.as) : null],
    ["Runtime", row.runtime ? bdi(row.runtime) : null],
    ["Service", row.service ? bdi(row.service) : null],
    ["Events", events.length ? events.map((e) => el("div", {}, clock(e.t, true) + " " + plain(e.k) + (e.out ? ", " + plain(e.out) : ""))) : null],
  ]));
}

function history(b, r) {
  if (b.r.length < 2) return null;
  return section("Revisions", el("ol", { class: "revs" }, b.r.map((one) => el("li", {}, el("button", { type: "button", "data-rev": one.n, "aria-current": one === r ? "true" : "false" },
    icon(stateName(one.b)), el("span", {}, `${one.n}: ${plain(stateName(one.b))}, ${plain(one.y || "")}`), el("span", { class: "dim" }, one.nt ? "no time" : clock(one.t)))))));
}

function ids(b, r) {
  const forms = { span: "a span", record: "a log record", both: "a span and a log record, which are one receipt" };
  return section("Where it is", facts([["Trace id", idLine(r.tr)], ["Span id", idLine(r.sp)], ["Boundary id", idLine(b.id)], ["In the files", forms[r.form]]]));
}
