// Appended to a page: what does not fit or overlaps, as a list at its end.
addEventListener("load", () => {
  const found = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${width}`);
  const cross = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim());
    texts.forEach((t, i) => {
      const r = t.getBoundingClientRect();
      if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.top < frame.top - 1 || r.bottom > frame.bottom + 1)
        found.push(`"${t.textContent.trim()}" leaves its picture`);
      for (const u of texts.slice(i + 1))
        if (cross(r, u.getBoundingClientRect())) found.push(`"${t.textContent.trim()}" lies on "${u.textContent.trim()}"`);
    });
  }
  const blocks = [...document.querySelectorAll("main > section, main > h1, main > table, main > p, .program li, figure, figcaption, h2")];
  for (const b of blocks) {
    const r = b.getBoundingClientRect();
    if (r.right > width + 1 || r.left < -1) found.push(`${b.tagName} "${b.textContent.slice(0, 30)}" leaves the window`);
  }
  // Ink against paper, as WCAG reckons it: at least 4.5 to 1.
  const light = (c) => {
    const [r, g, b] = c.match(/[\d.]+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (e) => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (!/, 0\)$/.test(c)) return c;
    }
    return "rgb(255, 255, 255)";
  };
  for (const e of document.querySelectorAll("h1,h2,p,td,th,li,code,figcaption,.cost")) {
    if (!e.textContent.trim()) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(paper(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push(`${e.tagName} "${e.textContent.slice(0, 20)}" has contrast ${ratio.toFixed(1)}`);
  }
  const list = document.createElement("pre");
  list.id = "found";
  list.hidden = true;
  list.textContent = [...new Set(found)].map((f) => `FAULT ${f}`).join("\n") || "FINE";
  document.body.append(list);
});
