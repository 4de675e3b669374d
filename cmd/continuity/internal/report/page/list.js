// The list of sessions. Only rows that can be seen are in the page, so that ten thousand boundaries cost what a screen of them costs.

const list = byId("list");
const gap = 10;
let shown = data.rows; // in their order, after the filters
let tops = []; // where each begins
let placed = new Map(); // place in shown -> element
let current = null; // {row, b, r}: the receipt that the keyboard is at

function layout() {
  tops = new Array(shown.length + 1);
  let y = 0;
  for (let i = 0; i < shown.length; i++) {
    shown[i].place = i;
    tops[i] = y;
    y += heightOf(shown[i]) + gap;
  }
  tops[shown.length] = y;
  list.style.height = Math.max(y, 60) + "px";
  const focused = list.contains(document.activeElement) && document.activeElement !== list;
  for (const e of placed.values()) e.remove();
  placed = new Map();
  render();
  if (focused) focusMark();
}

// placeAt is the row at a height.
function placeAt(y) {
  let lo = 0, hi = shown.length - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (tops[mid] <= y) lo = mid;
    else hi = mid - 1;
  }
  return lo;
}

let all = false; // while it is printed
function render() {
  if (!shown.length) return;
  const box = list.getBoundingClientRect(), spare = 300;
  const from = all ? 0 : placeAt(-box.top - spare), to = all ? Math.min(shown.length, 400) - 1 : placeAt(innerHeight - box.top + spare);
  const pinned = current && shown[current.row.place] === current.row ? current.row.place : -1;
  for (const [i, e] of placed) {
    if ((i < from || i > to) && i !== pinned) {
      e.remove();
      placed.delete(i);
    }
  }
  const width = list.clientWidth;
  if (pinned >= 0 && !placed.has(pinned)) place(pinned, width); // it may have the focus
  for (let i = from; i <= to; i++) if (!placed.has(i)) place(i, width);
}

function place(i, width) {
  const row = shown[i], e = buildRow(row, width - 2);
  e.style.transform = `translateY(${tops[i]}px)`;
  e.style.height = heightOf(row) + "px";
  if (current && current.row === row) e.classList.add("current");
  const after = [...placed.keys()].filter((k) => k > i).sort((x, y) => x - y)[0];
  list.insertBefore(e, after === undefined ? null : placed.get(after)); // in the order in which they are read
  placed.set(i, e);
  row.drawn = row.zoom;
}

// redraw draws a row again and leaves the focus where it is.
function redraw(row) {
  const old = row && placed.get(row.place);
  if (!old || shown[row.place] !== row) return;
  const focused = old.contains(document.activeElement);
  old.remove();
  placed.delete(row.place);
  place(row.place, list.clientWidth);
  if (focused) focusMark();
}

function focusMark() {
  const e = current && placed.get(current.row.place);
  const mark = e && e.querySelector(".mark.current");
  if (mark) mark.focus({ preventScroll: true });
}

// mark says anew in a row which receipt is the current one: that is all that a key changes most often.
function mark(row) {
  const e = placed.get(row.place);
  if (!e || shown[row.place] !== row) return;
  e.classList.toggle("current", current.row === row);
  for (const m of e.querySelectorAll(".mark")) standing(row, m);
}

const matches = (row, b) => !row.hits || row.hits.has(b.n);

// goTo makes a receipt the current one and shows it.
function goTo(row, b, r, focus) {
  const before = current && current.row, zoomed = row.zoom;
  current = { row, b, r };
  list.tabIndex = -1;
  if (row.zoom) {
    const t = r.t, width = row.zoom[1] - row.zoom[0];
    if (t < row.zoom[0] || t > row.zoom[1]) row.zoom = [t - width / 2, t + width / 2];
  }
  if (before && before !== row) mark(before);
  const box = list.getBoundingClientRect(), top = box.top + tops[row.place], bottom = top + heightOf(row);
  const bar = document.querySelector(".bar"), low = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight + 10 : 10;
  const panelBox = panel.hidden ? null : panel.getBoundingClientRect();
  const high = panelBox && panelBox.width >= innerWidth ? panelBox.top : innerHeight;
  if (top < low) scrollBy(0, top - low);
  else if (bottom > high) scrollBy(0, Math.min(bottom - high + 10, top - low));
  render();
  if (!placed.has(row.place)) place(row.place, list.clientWidth);
  if (zoomed === row.zoom && row.drawn === row.zoom) mark(row);
  else redraw(row);
  if (focus) focusMark();
  if (!panel.hidden) openPanel();
}

function step(by) {
  if (!current) return goFirst();
  const { row, r } = current;
  for (let i = r.at + by; i >= 0 && i < row.points.length; i += by) {
    const p = row.points[i];
    if (matches(row, p.b)) return goTo(row, p.b, p.r, true);
  }
}

function stepRow(by) {
  if (!current) return goFirst();
  const i = current.row.place + by;
  if (i < 0 || i >= shown.length) return;
  const row = shown[i], t = current.r.t;
  let best = null; // the one nearest in time where times are common, else the first
  for (const p of row.points) {
    if (!matches(row, p.b)) continue;
    if (!best || (scaleOne() && Math.abs(p.r.t - t) < Math.abs(best.r.t - t))) best = p;
  }
  if (best) goTo(row, best.b, best.r, true);
}

function goFirst() {
  if (!shown.length) return;
  const row = shown[Math.max(0, placeAt(-list.getBoundingClientRect().top + 60))];
  const p = row.points.find((one) => matches(row, one.b)) || row.points[0];
  goTo(row, p.b, p.r, true);
}

function goEnd(back) {
  if (!current) return goFirst();
  const some = current.row.points.filter((p) => matches(current.row, p.b)), p = back ? some[0] : last(some);
  if (p) goTo(current.row, p.b, p.r, true);
}

// zoom shows a factor of the time around the current boundary.
function zoom(factor) {
  if (!current) return;
  const { row, r } = current, [a, z] = row.zoom || domainOf(row), whole = domainOf(row);
  const width = Math.max((z - a) * factor, 1000), t = r.t;
  const from = Math.min(Math.max(t - width / 2, whole[0]), Math.max(whole[1], t) - width);
  row.zoom = width >= whole[1] - whole[0] ? null : [from, from + width];
  redraw(row);
}

function unzoom(row) {
  row.zoom = null;
  redraw(row);
}

// zoomTo makes room between boundaries that stand together.
function zoomTo(row, points) {
  const a = points[0].r.t, b = last(points).r.t;
  if (b - a < 1000) return false;
  row.zoom = [a - (b - a) * .15, b + (b - a) * .15];
  return true;
}
