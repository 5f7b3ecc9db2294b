() => {
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
}
