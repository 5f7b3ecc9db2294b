(width) => {
  if (document.documentElement.scrollWidth <= width) return [];
  const far = [...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > width + 1);
  return [document.documentElement.scrollWidth, ...far.slice(0, 3).map((e) => `${e.tagName}.${e.className}`)];
}
