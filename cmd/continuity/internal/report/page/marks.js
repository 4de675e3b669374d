// Shapes: each state has one of its own, beside its letter and its color.

function shapeOf(state, x, y, r) {
  const at = (points) => "M" + points.map(([px, py]) => (x + px * r).toFixed(1) + " " + (y + py * r).toFixed(1)).join("L") + "Z";
  switch (state) {
    case "preserved":
      return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    case "approved_change":
      return at([[-.9, -.9], [.9, -.9], [.9, .9], [-.9, .9]]);
    case "unverified":
      return at([[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]]);
    case "dropped":
      return at([[-1.22, -.98], [1.22, -.98], [0, 1.24]]);
    case "conflicting": {
      const points = [];
      for (let i = 0; i < 16; i++) {
        const a = (i * Math.PI) / 8 - Math.PI / 2, size = i % 2 ? .9 : 1.26;
        points.push([Math.cos(a) * size, Math.sin(a) * size]);
      }
      return at(points);
    }
  }
  return at([[-.7, -1], [.7, -1], [1, .7], [-1, .7]]);
}
// letterOf draws a state's letter; in the triangle there is most room above.
function letterOf(state, x, y, r) {
  const size = (r / 10.5) * (state === "dropped" ? .82 : 1);
  return svg("path", { class: "letter", d: letters[state], transform: `translate(${x.toFixed(1)} ${(y - (state === "dropped" ? r * .28 : 0)).toFixed(1)}) scale(${size.toFixed(2)})` });
}

function icon(name) {
  const s = svg("svg", { viewBox: "-12 -12 24 24", "aria-hidden": "true", class: "forced s-" + name });
  s.append(svg("path", { d: shapeOf(name, 0, 0, 9), class: "fill" }));
  s.append(letterOf(name, 0, 0, 9.5));
  return s;
}

// Losses are hatched, each state in another way.
for (const [name, path] of [["dropped", "M-1 1L1 -1M0 6L6 0M5 7L7 5"], ["conflicting", "M0 0L6 6M6 0L0 6"], ["unverified", "M0 3H3"]]) {
  byId("defs").append(svg("pattern", { id: "hatch-" + name, width: 6, height: 6, patternUnits: "userSpaceOnUse", class: "s-" + name },
    svg("rect", { width: 6, height: 6, class: "fill", opacity: .2 }),
    svg("path", { d: path, class: "stroke", "stroke-width": 1.1, opacity: .5, fill: "none" })));
}
