() => [...document.querySelectorAll("figure svg")].map((e) => {
  const box = e.getBoundingClientRect();
  return { marks: e.querySelectorAll("path, line, rect, circle, use").length, area: box.width * box.height };
})
