() => [...document.querySelectorAll(".math svg")].filter((drawn) => {
  const right = drawn.getBoundingClientRect().right;
  for (let e = drawn.parentElement; e && e !== document.body; e = e.parentElement) {
    const { overflowX } = getComputedStyle(e);
    if (overflowX === "auto" || overflowX === "scroll") return false;
    if (overflowX !== "visible" && e.getBoundingClientRect().right < right - 1) return true;
  }
  return false;
}).map((drawn) => drawn.closest(".math").textContent.slice(0, 60))
