import { readPage } from "../../publish/readPage.ts";

/** Sum of the series of a page that a selector such as `name{label="value"}` chooses; `null` if there are none. */
export function sumOnPage(page: string, selector: string): number | null {
  const [name = "", rest = ""] = selector.split("{");
  const wanted = [...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = "", value = ""]) => ({ label, value }));
  // Only the lines of this name are read: a page has thousands.
  const lines = page.split("\n").filter((line) => line.startsWith(name));
  const values = readPage(lines.join("\n"))
    .filter((sample) => sample.name === name && wanted.every(({ label, value }) => sample.labels.get(label) === value))
    .map((sample) => sample.value);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}
