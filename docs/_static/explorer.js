/* The explorer: certified optima over a grid, drawn and certified again from α, weights and bias. */
(function () {
  "use strict";
  const data = window.MKLCVX_EXPLORER;
  const root = document.getElementById("explorer");
  if (!data || !root) return;
  const { points, y, kernels } = data;
  const n = points.length, sum = (v) => v.reduce((a, b) => a + b, 0);
  const dot = (a, b) => a.reduce((s, x, i) => s + x * b[i], 0);

  // ---------------------------------------------------------------- kernels, functions, bounds
  function kernel(m, a, b) {
    const g = kernels[m].gamma;
    const value = g === null ? a[0] * b[0] + a[1] * b[1] : Math.exp(-g * ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2));
    return kernels[m].scale * value;
  }
  const gram = kernels.map((_, m) => points.map((a) => points.map((b) => kernel(m, a, b))));
  const times = (K, v) => K.map((row) => dot(row, v));

  function coefficients(at) {
    const signed = at.alpha.map((a, i) => a * y[i]);
    return at.coefficients || at.weights.map((w) => signed.map((s) => w * s));
  }

  /* Both bounds, from the point alone: the dual objective at α, the primal one at f, stretched as the certificate says. */
  const conjugates = {
    l1: (v) => Math.max(...v),
    average: (v) => sum(v) / v.length,
    sm1: (v, theta) => Math.min(...[0, ...v].map((t) => t + theta * sum(v.map((x) => Math.max(x - t, 0))))),
    lp: (v, p) => (p === 1 ? Math.max(...v) : sum(v.map((x) => x ** (p / (p - 1)))) ** ((p - 1) / p)),
    li: (v) => sum(v.map((x) => Math.sqrt(2 * x))) ** 2 / 4,
  };
  function penalty(name, norms, weights) {
    if (name === "l1") return sum(norms) ** 2 / 2;
    if (name === "li") return Math.max(...norms) ** 2;
    return sum(norms.map((a, m) => (a > 0 ? (a * a) / weights[m] / 2 : 0)));
  }
  /* The samples' side: what a residual r = 1 − y f costs, what α gains, and where α ends. The smoothed hinge has width 1. */
  const entropy = (u) => (u > 0 && u < 1 ? -u * Math.log(u) - (1 - u) * Math.log1p(-u) : 0);
  const losses = {
    hinge: { cost: (r) => Math.max(0, r), gain: (a) => a, end: (C) => C },
    squared_hinge: { cost: (r) => Math.max(0, r) ** 2 / 2, gain: (a, C) => a - (a * a) / (2 * C), end: () => Infinity },
    smoothed_hinge: { cost: (r) => (r <= 0 ? 0 : r <= 1 ? (r * r) / 2 : r - 0.5), gain: (a, C) => a - (a * a) / (2 * C), end: (C) => C },
    logistic: { cost: (r) => Math.max(0, r - 1) + Math.log1p(Math.exp(-Math.abs(r - 1))), gain: (a, C) => C * entropy(a / C), end: (C) => C },
  };
  const lossOf = (name) => losses[data.formulations[name].loss || "hinge"];
  function bounds(name, value, C, at) {
    const sample = lossOf(name), regulariser = data.formulations[name].regulariser || name;
    const signed = at.alpha.map((a, i) => a * y[i]);
    const halves = gram.map((K) => Math.max(dot(signed, times(K, signed)), 0) / 2);
    const c = coefficients(at).map((row) => row.map((x) => at.stretch * x)), images = gram.map((K, m) => times(K, c[m]));
    const norms = c.map((row, m) => Math.sqrt(Math.max(dot(row, images[m]), 0)));
    const outputs = points.map((_, i) => sum(images.map((image) => image[i])) + at.stretch * at.bias);
    const loss = C * sum(outputs.map((f, i) => sample.cost(1 - y[i] * f)));
    const paid = penalty(regulariser, norms, at.weights), cost = conjugates[regulariser](halves, value);
    return {
      lower: sum(at.alpha.map((a) => sample.gain(a, C))) - cost,
      upper: paid + loss,
      scale: paid + cost,
      norms, outputs,
    };
  }

  // ---------------------------------------------------------------- page
  root.innerHTML = `
    <div class="controls">
      <label>formulation <select aria-label="formulation"></select></label>
      <label>C <input type="range" min="0" max="${data.C.length - 1}" step="1" data-slider="C"><output></output></label>
      <label data-own><span></span><input type="range" min="0" step="1" data-slider="own"><output></output></label>
    </div>
    <figure data-plane></figure><figure data-weights></figure>
    <div class="certificate" aria-live="polite"></div>`;
  const select = root.querySelector("select"), price = root.querySelector('[data-slider="C"]');
  const own = root.querySelector('[data-slider="own"]'), ownLabel = root.querySelector("[data-own]");
  for (const name of Object.keys(data.formulations)) select.add(new Option(name, name));
  const symbol = { theta: "θ", p: "p" };
  const short = (x, digits = 4) => (Math.abs(x) >= 1e4 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toExponential(2) : x.toPrecision(digits));

  function chosen() {
    const name = select.value, family = data.formulations[name];
    const row = family.parameter === null ? 0 : Number(own.value);
    return { name, family, row, column: Number(price.value), value: family.values[row] };
  }
  function changeFormulation() {
    const { family } = chosen();
    ownLabel.hidden = family.parameter === null;
    own.max = family.values.length - 1;
    own.value = Math.floor(family.values.length / 2);
    draw();
  }

  // ---------------------------------------------------------------- pictures
  const SIZE = 300, CELLS = 48;
  const px = (x) => ((x + 1.1) / 2.2) * SIZE, py = (x) => SIZE - px(x);
  function field(at) {
    const c = coefficients(at), values = [];
    for (let r = 0; r <= CELLS; r++) {
      values.push([]);
      for (let s = 0; s <= CELLS; s++) {
        const x = [-1.1 + (2.2 * s) / CELLS, -1.1 + (2.2 * r) / CELLS];
        let f = at.bias;
        for (let m = 0; m < kernels.length; m++) for (let i = 0; i < n; i++) if (c[m][i] !== 0) f += c[m][i] * kernel(m, points[i], x);
        values[r].push(f);
      }
    }
    return values;
  }
  /* Marching squares: the line f = level as short segments. */
  function contour(values, level) {
    let path = "";
    const at = (s, r) => [px(-1.1 + (2.2 * s) / CELLS), py(-1.1 + (2.2 * r) / CELLS)];
    for (let r = 0; r < CELLS; r++) for (let s = 0; s < CELLS; s++) {
      const corners = [[s, r], [s + 1, r], [s + 1, r + 1], [s, r + 1]], hits = [];
      for (let k = 0; k < 4; k++) {
        const [a, b] = [corners[k], corners[(k + 1) % 4]], u = values[a[1]][a[0]] - level, v = values[b[1]][b[0]] - level;
        if (u < 0 !== v < 0) { const t = u / (u - v); hits.push(at(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]))); }
      }
      for (let k = 0; k + 1 < hits.length; k += 2) path += `M${hits[k].map((x) => x.toFixed(1))}L${hits[k + 1].map((x) => x.toFixed(1))}`;
    }
    return path;
  }
  function plane(at, C, end) {
    const values = field(at);
    const marks = points.map(([a, b], i) => {
      const [x, z] = [px(a), py(b)], bound = at.alpha[i] >= end * (1 - 1e-9), unused = at.alpha[i] <= C * 1e-9;
      const colour = y[i] > 0 ? "var(--plus)" : "var(--minus)";
      const shape = y[i] > 0 ? `<circle cx="${x}" cy="${z}" r="4.5"` : `<rect x="${x - 4}" y="${z - 4}" width="8" height="8"`;
      const fill = unused ? "none" : colour;
      const ring = bound ? `<circle cx="${x}" cy="${z}" r="8" fill="none" stroke="${colour}"/>` : "";
      return `${shape} fill="${fill}" stroke="${colour}" stroke-width="1.5"/>${ring}`;
    });
    const line = (level, dashes) => `<path d="${contour(values, level)}" fill="none" stroke="currentColor" stroke-width="${level ? 1 : 2}" stroke-dasharray="${dashes}" data-level="${level}"/>`;
    return `<svg viewBox="0 0 ${SIZE} ${SIZE}" role="img" aria-label="The points, and the lines where f is -1, 0 and 1">
      <rect width="${SIZE}" height="${SIZE}" fill="none" stroke="var(--faint)"/>${line(0, "")}${line(1, "5 4")}${line(-1, "1 4")}${marks.join("")}</svg>
      <figcaption>f = 0 (solid), 1 (dashed), −1 (dotted). Discs +1, squares −1; hollow: α = 0; ringed: α = C.</figcaption>`;
  }
  function corner(shares) {
    const places = [[30, 190], [270, 190], [150, 20]];
    return [0, 1].map((k) => sum(shares.map((w, m) => w * places[m][k])));
  }
  function weightPicture(at, rows) {
    const defined = (e) => e.weights.every((w) => w !== null);
    const place = (e) => corner(e.weights.map((w) => w / sum(e.weights)));
    const trail = rows.filter(defined).map((e) => place(e).map((x) => x.toFixed(1)).join(",")).join(" ");
    const bars = at.weights.map((w, m) => {
      const width = w === null ? 0 : 150 * Math.min(1, w / Math.max(...at.weights.map((v) => v || 0)));
      return `<text x="0" y="${228 + 22 * m}">${kernels[m].name}</text><rect x="92" y="${219 + 22 * m}" width="${width}" height="12" fill="currentColor" opacity="0.65"/>
        <text x="${98 + width}" y="${228 + 22 * m}" data-weight="${m}">${w === null ? "undefined" : short(w)}</text>`;
    });
    const spot = defined(at) ? place(at) : null;
    return `<svg viewBox="0 0 300 285" role="img" aria-label="The kernel weights on a triangle, and as bars">
      <polygon points="30,190 270,190 150,20" fill="none" stroke="currentColor"/>
      <text x="30" y="204" text-anchor="middle">${kernels[0].name}</text><text x="270" y="204" text-anchor="end">${kernels[1].name}</text><text x="150" y="13" text-anchor="middle">${kernels[2].name}</text>
      <polyline points="${trail}" fill="none" stroke="currentColor" stroke-width="1" opacity="0.6"/>
      ${spot ? `<circle cx="${spot[0]}" cy="${spot[1]}" r="6" fill="var(--plus)" stroke="currentColor" data-spot/>` : ""}${bars.join("")}</svg>
      <figcaption>The weights as shares of their sum, and as numbers. The line is their way as C runs through its range.</figcaption>`;
  }

  function draw() {
    const { name, family, row, column, value } = chosen(), C = data.C[column];
    const at = family.rows[row][column], proved = bounds(name, value, C, at);
    price.nextElementSibling.textContent = short(C, 3);
    price.setAttribute("aria-valuetext", `C = ${short(C, 3)}`);
    if (family.parameter !== null) {
      ownLabel.querySelector("span").textContent = symbol[family.parameter];
      own.nextElementSibling.textContent = short(value, 3);
      own.setAttribute("aria-valuetext", `${family.parameter} = ${short(value, 3)}`);
    }
    root.querySelector("[data-plane]").innerHTML = plane(at, C, lossOf(name).end(C));
    root.querySelector("[data-weights]").innerHTML = weightPicture(at, family.rows[row]);
    const gap = (proved.upper - proved.lower) / proved.scale;
    const errors = proved.outputs.filter((f, i) => f * y[i] <= 0).length, support = at.alpha.filter((a) => a > 1e-9 * C).length;
    root.querySelector(".certificate").innerHTML = `<table><tbody>
      <tr><td>lower bound, from α</td><td data-bound="lower">${proved.lower.toPrecision(12)}</td></tr>
      <tr><td>upper bound, from f</td><td data-bound="upper">${proved.upper.toPrecision(12)}</td></tr>
      <tr><td>relative gap, in plain double precision</td><td data-bound="gap">${Math.abs(gap).toExponential(1)}</td></tr>
      <tr><td>support vectors, errors on these points</td><td>${support} of ${n}, ${errors}</td></tr></tbody></table>`;
  }
  select.addEventListener("change", changeFormulation);
  for (const slider of [price, own]) slider.addEventListener("input", draw);
  price.value = Math.floor(data.C.length / 2);
  window.MKLCVX_EXPLORER.bounds = bounds;
  changeFormulation();
})();
