// The bounds that the explorer computes at every point of its grid.
const { C, formulations, bounds } = window.MKLCVX_EXPLORER, out = {};
for (const [name, { values, rows }] of Object.entries(formulations))
  out[name] = rows.map((row, i) => row.map((at, j) => {
    const { lower, upper } = bounds(name, values[i], C[j], at);
    return [lower, upper];
  }));
console.log(JSON.stringify({ out, certificate: found[".certificate"].innerHTML }));
