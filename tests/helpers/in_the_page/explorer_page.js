// Just enough of a page for the explorer to start; what it draws is looked at in a browser.
const element = () => ({ options: [], value: 0, add(o) { this.options.push(o); this.value ||= o.value; },
  setAttribute() {}, addEventListener() {}, querySelector: element, get nextElementSibling() { return element(); } });
const found = {}, root = element();
root.querySelector = (name) => found[name] ||= element();
globalThis.window = {}; globalThis.document = { getElementById: () => root };
globalThis.Option = function (text, value) { this.value = value; };
