// One row: the timeline of a session, with the agent's activity and what became of its decisions in lanes of their own.

const headHeight = 36, laneWork = [6, 24], laneMarks = [30, 82], markAt = 58, lossTop = 88, lossHeight = 19, axisHeight = 22;
const heightOf = (row) => headHeight + lossTop + row.lanes * lossHeight + axisHeight + 4;
const gutterOf = (width) => (width < 560 ? 74 : 92);

const steps = [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1.5e7, 3e7, 6e7, 1.2e8, 3e8, 6e8, 9e8, 1.8e9, 3.6e9, 7.2e9, 1.08e10,
  2.16e10, 4.32e10, 8.64e10, 1.728e11, 6.048e11, 2.6e12, 7.8e12, 3.15e13];

function scaleOf(row, width) {
  const [a, b] = row.zoom || domainOf(row);
  const left = gutterOf(width) + 18, right = width - 26;
  const x = (t) => left + ((t - a) / (b - a)) * (right - left);
  return { a, b, left, right, x, perPixel: (b - a) / (right - left) };
}

function buildRow(row, width) {
  const s = scaleOf(row, width);
  const worst = stateName(row.s);
  const e = el("section", { class: "row", "aria-label": "Session " + nameOf(row) + ", " + plain(worst) + ", " + plural(row.b.length, "boundary", "boundaries") });
  e.dataset.row = row.index;
  const head = el("div", { class: "row-head" },
    el("span", { class: "is", title: "State of the session, by its last receipt" }, icon(worst), el("span", {}, worst === "none" ? "no known state" : plain(worst))),
    el("h2", { class: "mono", title: row.id }, bdi(row.id)),
    row.agent ? el("span", { class: "tag", title: "Agent " + row.agent }, bdi(row.agent)) : null,
    el("span", { class: "tag" }, plural(row.b.length, "boundary", "boundaries") + (row.outstanding ? ", " + row.outstanding + " outstanding" : "")),
    row.runtime || row.service ? el("span", { class: "tag" }, bdi(row.runtime || row.service)) : null,
    el("span", { class: "span" }, row.no ? "no times in the file: in its order" : (width > 900 ? day(row.first) + " " + clock(row.first) + " UTC, " : "") + long(row.latest - row.first)),
    row.zoom ? el("button", { type: "button", "data-do": "unzoom" }, "Whole session") : null);
  const height = heightOf(row) - headHeight;
  const g = svg("svg", { class: "time", height, width, role: "group", "aria-label": "Timeline" });
  drawGround(g, row, s, width, height);
  drawWork(g, row, s);
  drawWindows(g, row, s);
  drawLosses(g, row, s);
  drawMarks(g, row, s);
  e.append(head, g);
  return e;
}

function drawGround(g, row, s, width, height) {
  const label = (y, text) => g.append(svg("text", { class: "lane", x: 12, y }, text));
  label(19, "activity");
  label(markAt + 4, "continuity");
  if (row.lanes) label(lossTop + 13, "losses");
  g.append(svg("rect", { class: "ground", x: s.left - 18, y: laneMarks[0], width: width - s.left, height: laneMarks[1] - laneMarks[0], rx: 5 }));
  g.append(svg("path", { class: "rule", d: `M${s.left - 18} ${laneWork[1] + .5}H${width - 18}` }));
  g.append(svg("path", { class: "base", d: `M${s.left - 12} ${markAt}H${width - 20}` }));
  const bottom = height - axisHeight;
  let d = "";
  if (!row.no) {
    const want = s.perPixel * 105, step = steps.find((v) => v >= want) || last(steps);
    const base = data.base % step;
    let t = Math.ceil((s.a + base) / step) * step - base, firstTick = true, taken = -1;
    for (; t <= s.b; t += step) {
      const x = Math.round(s.x(t)) + .5;
      d += `M${x} ${bottom - 2}v5`;
      const midnight = (t + data.base) % 8.64e10 === 0, time = step < 6e7 ? clock(t, step < 1e6) : clock(t).slice(0, 5);
      const text = midnight || step >= 8.64e10 ? day(t) : firstTick && s.b - s.a > 4.32e10 ? day(t) + " " + time : time;
      const anchor = x < s.left + 20 ? "start" : x > s.right - 20 ? "end" : "middle", need = text.length * 6.4;
      const from = anchor === "start" ? x : anchor === "end" ? x - need : x - need / 2;
      if (from > taken + 8) {
        g.append(svg("text", { class: "axis", x, y: bottom + 15, "text-anchor": anchor }, text));
        taken = from + need;
      }
      firstTick = false;
    }
  }
  g.append(svg("path", { class: "rule", d: `M${s.left - 18} ${bottom - 2.5}H${width - 18}` }), svg("path", { class: "rule", d }));
}

// drawWork draws what the agent did. It looks as healthy as it was, which is the point of the lane below.
function drawWork(g, row, s) {
  const [top, bottom] = laneWork;
  if (!row.act.length && !row.ev.length) {
    g.append(svg("text", { class: "lane", x: s.left - 12, y: 19 }, "no spans or records of the agent in the files"));
    return;
  }
  let d = "", bad = "", until = -1, badUntil = -9;
  for (const a of row.act) {
    if (a.a > s.b || a.a + (a.d || 0) < s.a) continue;
    const x0 = Math.max(s.x(a.a), s.left - 14), x1 = Math.min(Math.max(s.x(a.a + (a.d || 0)), x0 + 2), s.right + 8);
    if (x1 > until + .4) {
      d += `M${x0.toFixed(1)} ${top + 3}h${(x1 - x0).toFixed(1)}v${bottom - top - 7}h${(x0 - x1).toFixed(1)}z`;
      until = x1;
    }
    if (a.e && x0 > badUntil + 6) {
      const y = (top + bottom) / 2 - .5, x = Math.min(x0 + 4, Math.max(x0, x1 - 2));
      bad += `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`;
      badUntil = x0;
    }
  }
  g.append(svg("path", { class: "work", d }));
  if (bad) g.append(svg("path", { class: "work-err", d: bad }, svg("title", {}, "an error of the agent's own")));
  let ticks = "", tickAt = -9;
  for (const e of row.ev) {
    const x = s.x(e.t);
    if (x < s.left - 14 || x > s.right + 8 || x - tickAt < 2) continue;
    ticks += `M${x.toFixed(1)} ${bottom - 5}v9m-3 -4l3 4l3 -4`;
    tickAt = x;
  }
  if (ticks) g.append(svg("path", { class: "seen", d: ticks }));
}

// drawWindows draws each window as a bracket: solid until the decision, then dashed for the time that was left.
function drawWindows(g, row, s) {
  let solid = "", rest = "", solidUntil = -9, restUntil = -9;
  const y = laneMarks[0] + 4, low = s.left - 14, high = s.right + 8;
  const opens = row.points.filter((p) => p.first && p.r.o >= 0).map((p) => p.r.o).sort((x, y) => x - y);
  let next = 0;
  if (opens.filter((t) => t >= s.a && t <= s.b).length > (s.right - s.left) / 7) return; // they have no room: zoom in to see them
  for (const p of row.points) {
    if (!p.first || !p.r.w || p.r.o < 0 || p.r.nt || p.r.t < s.a) continue;
    if (p.r.o > s.b) break;
    const x0 = s.x(p.r.o), x1 = s.x(p.r.t), x2 = s.x(p.r.o + p.r.w * 1e6);
    if (x2 < low || x0 > high) continue;
    if (x1 > solidUntil + 1 && x1 >= low) {
      solid += x0 < low ? `M${low} ${y}` : `M${x0.toFixed(1)} ${y + 7}V${y}`;
      solid += x1 > high ? `H${high}` : `H${x1.toFixed(1)}v7`;
      solidUntil = x1;
    }
    while (next < opens.length && opens[next] <= p.r.t) next++;
    const until = Math.min(high, next < opens.length ? s.x(opens[next]) - 4 : high); // what was left goes on behind the next, which says more
    const from = Math.max(x1 + 3, low, restUntil), to = Math.min(x2, until);
    if (to > from + 3) {
      rest += `M${from.toFixed(1)} ${y}H${to.toFixed(1)}` + (x2 <= until ? "v6" : until === high ? "m-5 -3l5 3l-5 3" : "");
      restUntil = to;
    }
  }
  if (rest) g.append(svg("path", { class: "win-rest", d: rest }));
  if (solid) g.append(svg("path", { class: "win", d: solid }));
}

const endings = { restored: "restored", approved: "approved", resolved: "resolved", cleared: "cleared", closed: "session forgotten" };
function lossTexts(row, l) {
  const what = l.n ? l.n + " " + plain(stateName(l.s)) : plain(l.k || stateName(l.s));
  if (l.t < 0) return [what + ", still outstanding", what];
  const how = (endings[l.end] || l.end) + (l.in ? " in session " + l.in : "");
  return [what + (l.f < 0 || row.no ? ", " + how : ", " + how + " after " + long(l.t - l.f)), what];
}

function drawLosses(g, row, s) {
  const low = s.left - 16, high = s.right + 8, lanes = [];
  for (const l of row.loss) {
    if ((l.f >= 0 && l.f > s.b) || (l.t >= 0 && l.t < s.a)) continue;
    const x0 = l.f < 0 ? low : Math.max(s.x(l.f), low), x1 = l.t < 0 ? high : Math.min(s.x(l.t), high);
    const lane = lanes[l.l] || (lanes[l.l] = []), before = last(lane);
    if (before && x1 < before.x1 + 1 && l.s <= before.l.s) continue; // it is behind one that is drawn
    lane.push({ l, x0, x1: Math.max(x1, x0 + 2.5), cut: s.x(l.f) < low });
  }
  for (const lane of lanes) {
    let until = low; // what is taken by bars and texts
    for (const [i, at] of (lane || []).entries()) {
      g.append(lossOf(row, at, { low: until, high: i + 1 < lane.length ? lane[i + 1].x0 - 8 : high }));
      until = at.until;
    }
  }
}

// lossOf draws a bar. Its text stands in it, else behind it, else before it, or nowhere where there is no room.
function lossOf(row, at, free) {
  const { l, x0, x1, cut } = at, y = lossTop + l.l * lossHeight, h = lossHeight - 4, w = x1 - x0, name = stateName(l.s);
  const texts = lossTexts(row, l);
  const e = svg("g", { class: "loss forced s-" + name, "data-b": l.rb < 0 ? 0 : l.rb }, svg("title", {}, texts[0] + (l.f < 0 ? " (raised before this file begins)" : "")));
  at.until = x1;
  if (w < 6) {
    e.append(svg("rect", { x: x0, y, width: w, height: h, class: "fill" }));
  } else {
    const end = l.t < 0 ? `M${x1 - 6} ${y + 2}l6 ${h / 2 - 2}l-6 ${h / 2 - 2}` : `M${x1} ${y - 1}v${h + 2}`;
    e.append(svg("rect", { x: x0, y, width: w, height: h, fill: `url(#hatch-${name})` }), svg("path", { class: "edge stroke", d: `M${x0} ${y}h${w}M${x0} ${y + h}h${w}` }),
      svg("path", { class: "edge ends stroke", d: (l.f < 0 || cut ? "" : `M${x0} ${y - 1}v${h + 2}`) + end }));
  }
  for (const text of texts) {
    const need = text.length * 6.4, attrs = { y: y + h - 3.5, class: "halo" };
    if (w > need + 20) attrs.x = x0 + 8;
    else if (free.high - x1 > need + 8) {
      attrs.x = x1 + 7;
      at.until = x1 + 7 + need;
    } else if (x0 - free.low > need + 14) {
      attrs.x = x0 - 7;
      attrs["text-anchor"] = "end";
    } else continue;
    e.append(svg("text", attrs, text));
    break;
  }
  return e;
}

// clustersOf joins points that have no room beside each other.
function clustersOf(row, s) {
  const out = [];
  for (const p of row.points) {
    const x = s.x(p.r.t);
    if (x < s.left - 17 || x > s.right + 17) continue;
    const c = last(out);
    if (c && x - c.x < 30) {
      c.points.push(p);
      c.sum += x;
      c.x = c.sum / c.points.length;
    } else out.push({ x, sum: x, points: [p] });
  }
  return out;
}

function drawMarks(g, row, s) {
  const clusters = clustersOf(row, s);
  let thread = "";
  const place = new Map();
  for (const c of clusters) for (const p of c.points) {
    const from = place.get(p.b);
    if (from === undefined) place.set(p.b, c.x);
    else if (c.x - from > 14) { // a revision hangs on the decision that it revises
      thread += `M${from} ${markAt + 13}q0 5 6 5H${c.x - 6}q6 0 6 -5`;
      place.set(p.b, c.x);
    }
  }
  if (thread) g.append(svg("path", { class: "thread", d: thread }));
  for (const c of clusters) g.append(markOf(row, c));
}

// standing says how a mark stands to the current receipt.
function standing(row, e) {
  const here = current && current.row === row && e.boundaries.has(current.b), isCurrent = here && e.points.some((p) => p.r === current.r);
  e.setAttribute("class", e.is + (isCurrent ? " current" : here ? " kin" : ""));
  e.setAttribute("tabindex", isCurrent ? 0 : -1);
  e.setAttribute("aria-label", isCurrent && e.boundaries.size > 1 ? describe(row, current.b, current.r) + ", one of " + e.label : e.label);
  e.querySelector("title")?.remove();
}

function markOf(row, c) {
  const set = new Set(c.points.map((p) => p.b)), boundaries = [...set];
  const hit = !row.hits || boundaries.some((b) => row.hits.has(b.n));
  const worst = c.points.reduce((w, p) => Math.max(w, p.r.b), -1), name = stateName(worst);
  const many = boundaries.length > 1, single = c.points[0];
  const r = many || single.first || c.points.length > 1 ? 10.5 : 8;
  const y = many ? markAt - 3 : markAt;
  const e = svg("g", { role: "button" });
  e.boundaries = set;
  e.points = c.points;
  e.label = many ? `${boundaries.length} boundaries: ${mixOf(boundaries)}` : describe(row, last(c.points).b, last(c.points).r);
  e.is = `mark forced s-${name}${hit ? "" : " out"}`;
  standing(row, e);
  e.append(svg("rect", { class: "ring", x: c.x - 16, y: laneMarks[0] + 9, width: 32, height: many ? 44 : 35, rx: 7 }));
  e.append(svg("path", { class: "shape fill", d: shapeOf(name, c.x, y, r) }));
  e.append(letterOf(name, c.x, y, r));
  if (many) {
    // What stands together, by its share: the worst alone would look like all of it.
    const counts = new Array(data.states.length).fill(0), all = boundaries.length;
    for (const b of boundaries) if (stands(b).b >= 0) counts[stands(b).b]++;
    let x = c.x - 15;
    for (const n of worstFirst) {
      if (!counts[n]) continue;
      const w = (counts[n] / all) * 30;
      e.append(svg("rect", { class: "fill s-" + stateName(n), x, y: laneMarks[1] - 16, width: w.toFixed(2), height: 5 }));
      x += w;
    }
    e.append(svg("text", { class: "many", x: c.x, y: laneMarks[1] - 1.5 }, "×" + all.toLocaleString("en")));
  }
  const alerts = c.points.flatMap((p) => p.r.al || []);
  if (alerts.length) {
    const firing = alerts.some((a) => a.s === "firing");
    e.append(svg("circle", { class: "flag", cx: c.x + 10, cy: y - 10, r: 5.5 }), svg("text", { class: "flag-text", x: c.x + 10, y: y - 6.8 }, firing ? "!" : "✓"));
  }
  return e;
}

function mixOf(boundaries) {
  return worstFirst.map((n) => [boundaries.filter((b) => stands(b).b === n).length, plain(stateName(n))]).filter(([n]) => n).map(([n, name]) => n + " " + name).join(", ");
}

// describe says what a receipt says, in one line.
function describe(row, b, r) {
  const alerts = (r.al || []).map((a) => plain(a.k) + " " + a.s);
  return `Boundary ${b.n + 1} of ${row.b.length}` + (r.n > 1 ? `, revision ${r.n}` : "") + `: ${plain(stateName(r.b))}, ${plain(r.y || "no reason")}, ` +
    (row.no ? "no time" : moment(r.t)) + (alerts.length ? "; alert " + alerts.join(", ") : "");
}
