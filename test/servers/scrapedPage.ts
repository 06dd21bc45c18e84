import type { Labels } from "./promRemoteWrite.ts";

const pairs = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, one: string) => (one === "n" ? "\n" : one));

/** Reads pages of one target as a Prometheus with `honor_labels` does: a label of the page wins over the target's. */
export function createPageReader(target: Labels): (page: string) => readonly (readonly [Labels, number])[] {
  /** The same series at every scrape, and the same object for it. */
  const known = new Map<string, Labels>();
  const labelsOf = (head: string): Labels => {
    const brace = head.indexOf("{");
    const name = brace < 0 ? head : head.slice(0, brace);
    const own = brace < 0 ? [] : [...head.slice(brace).matchAll(pairs)];
    const ofPage = own.map(([, label = "", text = ""]) => [label, unescaped(text)] as const);
    return { ...target, ...Object.fromEntries(ofPage), __name__: name };
  };
  return (page) =>
    page.split("\n").flatMap((line) => {
      if (line === "" || line.startsWith("#")) return [];
      const space = line.lastIndexOf(" ");
      const head = line.slice(0, space);
      const labels = known.get(head) ?? labelsOf(head);
      known.set(head, labels);
      return [[labels, Number(line.slice(space + 1).replace("Inf", "Infinity"))] as const];
    });
}
