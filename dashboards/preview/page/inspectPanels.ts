/** The facts about a panel that its elements show. What a chart writes on its canvas is not among them. */
export interface SeenPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly isReady: boolean;
  readonly series: number;
  readonly rows: number;
  readonly error: string | null;
  /** Whether it contains words that say that there is no data. */
  readonly saysNothing: boolean;
  /** Texts that are wider or higher than their place. */
  readonly cut: readonly string[];
  /** Pairs of texts that overlap. */
  readonly overlapping: readonly string[];
}

/** Whether an element is visible: it is not hidden, and not only for screen readers, where it would be one pixel wide. */
const isVisible = (element: Element): boolean => {
  const { visibility, opacity, display } = getComputedStyle(element);
  return visibility !== "hidden" && opacity !== "0" && display !== "none" && element.clientWidth !== 1;
};

interface Piece {
  readonly element: HTMLElement;
  readonly words: string;
  readonly box: DOMRect;
}

/** The elements with text of their own, with the box of that text. */
function pieces(panel: Element): readonly Piece[] {
  const found: Piece[] = [];
  const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    const element = node.parentElement;
    const words = node.textContent?.trim() ?? "";
    if (element === null || words === "" || !isVisible(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width > 0 && box.height > 0) found.push({ element, words, box });
  }
  return found;
}

/** How a text is cut by its own box, or by one around it that hides what overflows; `null` if it is not cut. */
function cutBy({ element, box }: Piece, panel: Element): string | null {
  for (let one: Element | null = element; one !== null && panel.contains(one); one = one.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(one);
    const place = one.getBoundingClientRect();
    if (overflowX !== "visible" && (box.right > place.right + 1 || box.left < place.left - 1)) return "wide";
    // A line is higher than its letters.
    const spare = box.height / 4;
    if (overflowY !== "visible" && (box.bottom > place.bottom + spare || box.top < place.top - spare)) return "high";
  }
  const around = panel.getBoundingClientRect();
  return box.right > around.right + 1 || box.bottom > around.bottom + 1 ? "outside the panel" : null;
}

/** The description of a cut text; rows below the edge of a table can be scrolled to, so they are described together. */
const cutWords = ({ element, words }: Piece, how: string): string =>
  how === "high" && element.closest('[role="row"]') !== null ? "rows below its edge" : `${how}: ${words}`;

function overlap(one: DOMRect, other: DOMRect): boolean {
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return wide > 2 && high > 3;
}

/** The paragraph or cell that contains a text: within it, words may continue over several lines. */
const paragraphOf = (element: Element): Element | null => element.closest("p, li, td, th, pre, h1, h2, h3, h4");

function isSameParagraph(one: Piece, other: Piece): boolean {
  const paragraph = paragraphOf(one.element);
  return paragraph !== null && paragraph === paragraphOf(other.element);
}

function overlapping(all: readonly Piece[]): readonly string[] {
  const found: string[] = [];
  for (const [i, one] of all.entries())
    for (const other of all.slice(i + 1))
      if (one.element !== other.element && !isSameParagraph(one, other) && overlap(one.box, other.box))
        found.push(`${one.words} | ${other.words}`);
  return found;
}

function inspect(panel: HTMLElement): SeenPanel {
  const all = pieces(panel);
  const cuts = all.map((piece) => ({ piece, how: cutBy(piece, panel) }));
  const ofBars = [...panel.querySelectorAll<HTMLElement>("[data-cut]")].map(({ dataset }) => dataset.cut ?? "");
  const { panel: id = "0", type = "", title = "", ready, series = "0", rows = "0", error } = panel.dataset;
  return {
    id: Number(id),
    type,
    title,
    isReady: ready === "yes",
    series: Number(series),
    rows: Number(rows),
    error: error ?? null,
    saysNothing: all.some(({ words }) => /^no data\b/i.test(words)),
    cut: [...new Set([...cuts.flatMap(({ piece, how }) => (how === null ? [] : [cutWords(piece, how)])), ...ofBars])],
    overlapping: overlapping(cuts.filter(({ how }) => how === null).map(({ piece }) => piece)).slice(0, 12),
  };
}

/** Inspects all panels of the page. */
export function inspectPanels(): readonly SeenPanel[] {
  return [...document.querySelectorAll<HTMLElement>("[data-panel]")].map(inspect);
}
