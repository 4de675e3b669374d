// Filters: what is asked of boundaries. Sessions without any that fits are left out; in the others the rest is dimmed.

const wanted = { states: new Set(), runtime: "", invariant: "", find: [], open: false, sort: "worst" };
const runtimeOf = (row) => row.runtime || "not stated";

function haystack(row, b) {
  if (b.hay === undefined) {
    const parts = [row.id, row.agent, row.service, row.runtime, b.id];
    for (const r of b.r) {
      parts.push(r.y, plain(r.y || ""), r.tr, r.sp, stateName(r.b), ...(r.a || []));
      for (const f of findingsOf(r)) parts.push(f.n, f.y, f.ref);
      for (const a of r.al || []) parts.push(a.k, a.s, a.fp);
    }
    b.hay = [...new Set(parts)].filter(Boolean).join("\n").toLowerCase();
  }
  return b.hay;
}

function fits(row, b) {
  const r = stands(b);
  let state = r.b;
  if (wanted.invariant) {
    const f = findingsOf(r).find((one) => one.n === wanted.invariant);
    if (!f) return false;
    state = f.s;
  }
  if (wanted.states.size && !wanted.states.has(state)) return false;
  return wanted.find.every((word) => haystack(row, b).includes(word));
}

const badness = (row) => (row.s < 0 ? 2.5 : row.s); // what is not known is not well
const orders = {
  worst: (x, y) => badness(y) - badness(x) || y.worst - x.worst || y.outstanding - x.outstanding || y.latest - x.latest || x.index - y.index,
  new: (x, y) => y.latest - x.latest || x.index - y.index,
  old: (x, y) => x.first - y.first || x.index - y.index,
  name: (x, y) => (x.id < y.id ? -1 : x.id > y.id ? 1 : x.index - y.index),
};

function apply() {
  const asked = wanted.states.size || wanted.invariant || wanted.find.length;
  const any = asked || wanted.runtime || wanted.open;
  let fit = 0, whole = 0;
  shown = [];
  for (const row of data.rows) {
    whole += row.b.length;
    row.place = -1;
    row.hits = null;
    if ((wanted.runtime && runtimeOf(row) !== wanted.runtime) || (wanted.open && !row.outstanding)) continue;
    if (asked) {
      row.hits = new Set();
      for (const b of row.b) if (fits(row, b)) row.hits.add(b.n);
      if (!row.hits.size) continue;
    }
    fit += row.hits ? row.hits.size : row.b.length;
    shown.push(row);
  }
  shown.sort(orders[wanted.sort]);
  if (current && (!shown.includes(current.row) || !matches(current.row, current.b))) {
    current = null;
    list.tabIndex = 0;
    closePanel(false);
  }
  byId("count").textContent = any
    ? `${fit.toLocaleString("en")} of ${plural(whole, "boundary", "boundaries")}, ${shown.length.toLocaleString("en")} of ${plural(data.rows.length, "timeline")}`
    : `${plural(whole, "boundary", "boundaries")}, ${plural(data.rows.length, "timeline")}`;
  byId("reset").hidden = !any;
  layout();
  let none = list.querySelector(".none");
  if (shown.length) none?.remove();
  else if (!none) list.append(el("p", { class: "none" }, "No boundary fits these filters."));
  for (const e of byId("states").children) e.setAttribute("aria-pressed", wanted.states.has(Number(e.dataset.state)));
}

function reset() {
  wanted.states.clear();
  Object.assign(wanted, { runtime: "", invariant: "", find: [], open: false });
  byId("find").value = byId("runtime").value = byId("invariant").value = "";
  byId("open").checked = false;
  apply();
}

function buildFilters() {
  const counts = new Array(data.states.length).fill(0), runtimes = new Set(), invariants = new Set();
  for (const row of data.rows) {
    runtimes.add(runtimeOf(row));
    for (const b of row.b) {
      if (stands(b).b >= 0) counts[stands(b).b]++;
      else counts[-1] = (counts[-1] || 0) + 1;
    }
  }
  for (const f of data.findings) invariants.add(f.n);
  const toggle = (n) => {
    if (!wanted.states.delete(n)) wanted.states.add(n);
    apply();
  };
  for (const n of counts[-1] ? [...worstFirst, -1] : worstFirst) {
    const name = stateName(n);
    const e = el("button", { type: "button", class: `state forced s-${name}${counts[n] ? "" : " zero"}`, "data-state": n, "aria-pressed": "false" },
      icon(name), el("span", { class: "label" }, titles[name]), el("span", { class: "n" }, counts[n].toLocaleString("en")),
      el("span", { class: "what" }, meaning("states", name) || "the receipts say none that is known"));
    e.addEventListener("click", () => toggle(n));
    byId("states").append(e);
  }
  const options = (id, title, values) => byId(id).append(el("option", { value: "" }, title), ...values.map((v) => el("option", { value: v }, v)));
  options("runtime", "all", [...runtimes].sort());
  const rank = ["approval_boundary", "scope", "constraint", "target", "acceptance_test"];
  const at = (n) => (rank.indexOf(n.split(".")[0]) + 6) % 6 + (rank.includes(n.split(".")[0]) ? 0 : 9);
  options("invariant", "all", [...invariants].sort((a, b) => at(a) - at(b) || (a < b ? -1 : 1)));
  const on = (id, event, f) => byId(id).addEventListener(event, (e) => { f(e.target); apply(); });
  on("runtime", "change", (e) => (wanted.runtime = e.value));
  on("invariant", "change", (e) => (wanted.invariant = e.value));
  on("open", "change", (e) => (wanted.open = e.checked));
  on("sort", "change", (e) => (wanted.sort = e.value));
  on("scale", "change", () => data.rows.forEach((row) => (row.zoom = null)));
  on("find", "input", (e) => (wanted.find = e.value.toLowerCase().split(/\s+/).filter(Boolean)));
  byId("reset").addEventListener("click", reset);
}
