import { z } from "zod";

/** Opens everything that opens. */
export const openAll = "document.querySelectorAll('details').forEach((one) => { one.open = true; })";
/** What `widths` gives. */
export const sides = z.object({ page: z.number(), window: z.number() });
/** How wide the page and its window are. */
export const widths = "({ page: document.documentElement.scrollWidth, window: window.innerWidth })";

/** Every piece of text with a contrast below 4.5:1 (WCAG 2.2), as the browser computes its colours. */
export const faint = `(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const backOf = (element) => {
    for (let one = element; one !== null; one = one.parentElement) {
      const back = channels(getComputedStyle(one).backgroundColor);
      if (back.length < 4 || back[3] > 0) return back;
    }
    return [255, 255, 255];
  };
  const found = [];
  let looked = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode;
    if (textContent.trim() === "") continue;
    looked += 1;
    const [a, b] = [luminance(channels(getComputedStyle(parentElement).color)), luminance(backOf(parentElement))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(textContent + ": " + contrast);
  }
  return { found, looked, back: getComputedStyle(document.body).backgroundColor };
})()`;

/** What `faint` gives. */
export const contrasts = z.object({ found: z.array(z.string()), looked: z.number(), back: z.string() });

/** What has the focus, and whether that is seen. */
export const focused = `(() => {
  const one = document.activeElement;
  const { outlineStyle } = getComputedStyle(one);
  return { name: one.tagName.toLowerCase(), text: one.textContent.trim(), hasOutline: outlineStyle !== "none" };
})()`;

/** What `focused` gives. */
export const focus = z.object({ name: z.string(), text: z.string(), hasOutline: z.boolean() });
