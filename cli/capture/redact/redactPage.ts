import type { Pseudonyms } from "./pseudonyms.ts";
import { isCommonName, isPublicPageLabel } from "./publicText.ts";

/** A sample: name, labels, value and perhaps a time. All other text of a page may contain anything, and is left out. */
const sample = /^([a-zA-Z_:][\w:]*)(\{.*\})?( +\S+(?: +\S+)?)\s*$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const wholeLabels = /^\{(?:\s*[a-zA-Z_]\w*="(?:[^"\\]|\\.)*"\s*,?)*\s*\}$/;

/** A page of an exporter without the cluster's names; only types and samples are kept. */
export function redactPage(page: string, { ofName, withoutUuids }: Pseudonyms): string {
  const lines = page.split("\n").flatMap((line): readonly string[] => {
    if (/^# TYPE [a-zA-Z_:][\w:]* \w+\s*$/.test(line)) return [line];
    const [, name, labels = "", value] = sample.exec(line) ?? [];
    if (name === undefined || value === undefined || (labels !== "" && !wholeLabels.test(labels))) return [];
    const redacted = labels.replace(label, (_, key: string, text: string) => {
      if (key === "UUID" || key === "uuid") return `${key}="${withoutUuids(text)}"`;
      return `${key}="${isPublicPageLabel(key) || isCommonName(text) ? text : ofName(text)}"`;
    });
    return [`${name}${redacted}${value}`];
  });
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
