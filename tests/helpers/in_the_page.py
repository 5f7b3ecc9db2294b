"""What the browser is asked, in JavaScript: functions that are evaluated in a page and return data."""

from __future__ import annotations

LOOK = r"""() => {
  const raw = /\$[^$\n]+\$|\\\(|\\\[|\\[A-Za-z]+/;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), left = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (!node.parentElement.closest("pre, code, kbd, script, style, noscript, mjx-container") && raw.test(node.data))
      left.push(node.data.trim().slice(0, 60));
  }
  const formulas = [...document.querySelectorAll(".math")];
  return {
    raw: left,
    formulas: formulas.length,
    bare: formulas.filter((e) => !e.querySelector("mjx-container svg")).map((e) => e.textContent.slice(0, 60)),
    wrong: [...document.querySelectorAll("mjx-merror, [data-mjx-error]")].map((e) => e.textContent.slice(0, 60)),
    empty: [...document.images].filter((e) => e.complete && e.naturalWidth === 0).map((e) => e.src),
    links: [...document.querySelectorAll("a[href]")].map((e) => new URL(e.getAttribute("href"), document.baseURI).href),
    ids: [...document.querySelectorAll("[id]")].map((e) => e.id),
  };
}"""
WIDER = """(width) => {
  if (document.documentElement.scrollWidth <= width) return [];
  const far = [...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > width + 1);
  return [document.documentElement.scrollWidth, ...far.slice(0, 3).map((e) => `${e.tagName}.${e.className}`)];
}"""
CUT = """() => [...document.querySelectorAll(".math svg")].filter((drawn) => {
  const right = drawn.getBoundingClientRect().right;
  for (let e = drawn.parentElement; e && e !== document.body; e = e.parentElement) {
    const { overflowX } = getComputedStyle(e);
    if (overflowX === "auto" || overflowX === "scroll") return false;
    if (overflowX !== "visible" && e.getBoundingClientRect().right < right - 1) return true;
  }
  return false;
}).map((drawn) => drawn.closest(".math").textContent.slice(0, 60))"""
POSITIONS = """() => {
  const root = document.getElementById("explorer"), select = root.querySelector("select"), seen = [];
  const [price, own] = ["C", "own"].map((name) => root.querySelector(`[data-slider="${name}"]`));
  const move = (slider, value) => { slider.value = value; slider.dispatchEvent(new Event("input")); };
  const number = (name) => Number(root.querySelector(`[data-bound="${name}"]`).textContent);
  for (const { value: name } of select.options) {
    select.value = name; select.dispatchEvent(new Event("change"));
    for (let row = 0; row <= (root.querySelector("[data-own]").hidden ? 0 : Number(own.max)); row++)
      for (let column = 0; column <= Number(price.max); column++) {
        move(own, row); move(price, column);
        const weights = [...root.querySelectorAll("[data-weight]")].map((e) => e.textContent).join(" ");
        seen.push({ name, row, column, weights, lower: number("lower"), upper: number("upper"), gap: number("gap") });
      }
  }
  return seen;
}"""
FIGURES = """() => [...document.querySelectorAll("figure svg")].map((e) => {
  const box = e.getBoundingClientRect();
  return { marks: e.querySelectorAll("path, line, rect, circle, use").length, area: box.width * box.height };
})"""
