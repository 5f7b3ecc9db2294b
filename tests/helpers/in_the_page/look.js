() => {
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
}
