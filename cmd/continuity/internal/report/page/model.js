// What the files hold, and small helpers. Text of the files gets into the page as text only.

const data = JSON.parse(document.getElementById("data").textContent);
const words = JSON.parse(document.getElementById("words").textContent);
const byId = (id) => document.getElementById(id);

// Letters tell states apart where colors do not.
// They are drawn, as a mark is: text costs more, and looks different everywhere.
const letters = {
  preserved: "M-2.2 4V-3.8H.4a2.4 2.4 0 0 1 0 4.8H-2.2", approved_change: "M-3.1 4L0 -4L3.1 4M-2 1.5H2", unverified: "M-2.7 -4V1a2.7 2.8 0 0 0 5.4 0V-4",
  dropped: "M-2.4 -3.7V3.7H-.6a3.4 3.7 0 0 0 0 -7.4Z", conflicting: "M2.8 -2.5A3.7 3.9 0 1 0 2.8 2.5", none: "M-2 -2.2a2.1 2.1 0 1 1 3.2 1.8q-1.2 .7 -1.2 2M0 3.4v.8",
};
const titles = {
  preserved: "Preserved", approved_change: "Approved change", unverified: "Unverified",
  dropped: "Dropped", conflicting: "Conflicting", none: "No known state",
};
const worstFirst = [4, 3, 2, 1, 0];
const stateName = (n) => data.states[n] || "none";

function el(tag, attrs, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attrs || {})) {
    if (value !== null && value !== undefined && value !== false) e.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined && child !== "") e.append(child);
  return e;
}

const svgSpace = "http://www.w3.org/2000/svg";
function svg(tag, attrs, ...children) {
  const e = document.createElementNS(svgSpace, tag);
  for (const name in attrs) if (attrs[name] !== null && attrs[name] !== undefined) e.setAttribute(name, attrs[name]);
  for (const child of children) if (child !== null && child !== undefined) e.append(child);
  return e;
}
const bdi = (text) => el("bdi", {}, text);
const plain = (word) => String(word).replaceAll("_", " ");
const plural = (n, one, many) => n.toLocaleString("en") + " " + (n === 1 ? one : many || one + "s");
const last = (list) => list[list.length - 1];
const stands = (b) => last(b.r); // the revision of a boundary that stands

// Meanings begin with the state where it stands beside them anyway.
function meaning(set, word) {
  const text = Object.hasOwn(words[set], word) ? words[set][word] : ""; // a word of a file may be any, as __proto__
  return text ? text.replace(/^(preserved|approved_change|unverified|dropped|conflicting|dropped or conflicting|off by default)[:,] /, "") : "";
}

// Times are microseconds after data.base, and shown in UTC: a report is passed on.
const dateOf = (t) => new Date((data.base + t) / 1000);
const pad = (n, width) => String(n).padStart(width || 2, "0");
function clock(t, fraction) {
  const d = dateOf(t);
  const text = pad(d.getUTCHours()) + ":" + pad(d.getUTCMinutes()) + ":" + pad(d.getUTCSeconds());
  return fraction ? text + "." + pad(d.getUTCMilliseconds(), 3) : text;
}
function day(t) {
  const d = dateOf(t);
  return d.getUTCFullYear() + "-" + pad(d.getUTCMonth() + 1) + "-" + pad(d.getUTCDate());
}
const moment = (t) => (t < 0 ? "no time" : day(t) + " " + clock(t, true));
function long(us) {
  const s = us / 1e6;
  if (s < 0.001) return s <= 0 ? "0 s" : "< 1 ms";
  if (s < 1) return Math.round(s * 1000) + " ms";
  if (s < 10) return Math.round(s * 10) / 10 + " s";
  if (s < 90) return Math.round(s) + " s";
  const parts = [["d", 86400], ["h", 3600], ["min", 60]];
  for (let i = 0; i < parts.length; i++) {
    const [unit, size] = parts[i];
    if (s < size) continue;
    const whole = Math.floor(s / size), next = parts[i + 1];
    const rest = next ? Math.floor((s - whole * size) / next[1]) : Math.round(s - whole * size);
    return whole + " " + unit + (rest ? " " + rest + " " + (next ? next[0] : "s") : "");
  }
  return Math.round(s) + " s";
}

// Points are what is drawn of a row: all revisions of its boundaries, by time.
for (const [i, row] of data.rows.entries()) {
  row.index = i;
  row.loss = row.loss || [];
  row.act = row.act || [];
  row.ev = row.ev || [];
  row.lanes = row.lanes || 0;
  row.points = [];
  row.worst = -1;
  row.outstanding = row.loss.filter((l) => l.t < 0).length;
  for (const [n, b] of row.b.entries()) {
    b.n = n;
    for (const [k, r] of b.r.entries()) row.points.push({ b, r, first: k === 0 });
    row.worst = Math.max(row.worst, stands(b).b);
  }
  row.points.sort((x, y) => x.r.t - y.r.t);
  for (const [k, p] of row.points.entries()) p.r.at = k;
  row.zoom = null;
  row.hits = null; // the set of boundaries that match the filters; null is all
}

// domainOf is the time that a row shows when nobody zoomed in.
function domainOf(row) {
  if (scaleOne()) return allTimes;
  let a = row.first, b = row.latest;
  const extent = b - a;
  for (const p of row.points) { // some of a window that goes on after the decision
    if (p.first && p.r.w && p.r.o >= 0) b = Math.max(b, Math.min(p.r.o + p.r.w * 1e6, row.latest + extent * 0.12));
  }
  if (row.outstanding) b = Math.max(b, row.latest + extent * 0.16); // what is outstanding goes on: room for its bar
  if (b - a < 2000) { // one moment: as much around it as its window, so far as that is usual
    const around = Math.min(Math.max(...row.points.map((p) => (p.r.w || 0) * 1e6), 2e6), 3e7);
    return [a - around, b + around];
  }
  return [a, b];
}
const allTimes = [Math.min(...data.rows.map((r) => r.first)), Math.max(...data.rows.map((r) => r.latest))];
if (allTimes[1] - allTimes[0] < 2000) { allTimes[0] -= 3e7; allTimes[1] += 3e7; }
const scaleOne = () => byId("scale").value === "one";

// findingsOf are those of a revision, in words of the file.
const findingsOf = (r) => (r.f || []).map((n) => data.findings[n]);

// nameOf says whose row it is.
const nameOf = (row) => row.id + (row.agent ? " / " + row.agent : "");
