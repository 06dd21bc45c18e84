import { createTextCache } from "../../kernel/textCache.ts";
import { byte, endOfLabelName, skipBlanks } from "./bytes.ts";
import { type LabelRole, labelRoles } from "./dialects.ts";
import { placeOfLabel } from "./vocabulary.ts";

/** The labels of a row that have a meaning; an empty value is `null`, like an absent label. Untrusted text. */
export type RowLabels = Record<LabelRole, string | null>;

/** Longest label value (bytes as written) that is believed; names of Kubernetes end at 253. */
export const maxLabelBytes = 4096;

/** Texts that are on many devices are kept once: 80,000 GPUs have a handful of models. */
const isRepeated: ReadonlySet<LabelRole> = new Set([
  "profile",
  "modelName",
  "gpuIndex",
  "host",
  "namespace",
  "container",
  "oldNamespace",
  "oldContainer",
  "exportedNamespace",
  "exportedContainer",
]);
const shared = createTextCache(4096);

/** Labels of a row without any. */
export function noLabels(): RowLabels {
  return {
    uuid: null,
    gpuInstance: null,
    profile: null,
    migUuid: null,
    modelName: null,
    gpuIndex: null,
    host: null,
    pod: null,
    namespace: null,
    container: null,
    podUid: null,
    oldPod: null,
    oldNamespace: null,
    oldContainer: null,
    exportedPod: null,
    exportedNamespace: null,
    exportedContainer: null,
    exportedPodUid: null,
    virtualGpu: null,
    claimName: null,
    claimNamespace: null,
    otherEntity: null,
  };
}

/** A label block and where it ends. */
export interface LabelBlock {
  readonly labels: RowLabels;
  /** Position after the closing brace. */
  readonly end: number;
}

/**
 * Reads the label block whose opening brace is at `open`, at most up to `lineEnd`; `null` when it is malformed.
 * Accepts what real pages have: blanks anywhere between the parts, a comma at the end, a comma that is missing.
 */
export function readLabelBlock(bytes: Buffer, open: number, lineEnd: number): LabelBlock | null {
  const labels = noLabels();
  let at = skipBlanks(bytes, open + 1, lineEnd);
  while (at < lineEnd && bytes[at] !== byte.closeBrace) {
    at = readLabel(bytes, at, lineEnd, labels);
    if (at < 0) return null;
  }
  if (at >= lineEnd) return null;
  for (const role of labelRoles) if (labels[role] === "") labels[role] = null;
  return { labels, end: at + 1 };
}

/** Reads one label and the comma after it into `labels`; the position after them, or -1 when it is malformed. */
function readLabel(bytes: Buffer, start: number, lineEnd: number, labels: RowLabels): number {
  const nameEnd = endOfLabelName(bytes, start, lineEnd);
  const equals = skipBlanks(bytes, nameEnd, lineEnd);
  if (nameEnd === start || equals >= lineEnd || bytes[equals] !== byte.equals) return -1;
  const quote = skipBlanks(bytes, equals + 1, lineEnd);
  if (quote >= lineEnd || bytes[quote] !== byte.quote) return -1;
  const closing = endOfValue(bytes, quote + 1, lineEnd);
  if (closing < 0 || closing - quote - 1 > maxLabelBytes) return -1;
  const place = placeOfLabel(bytes, start, nameEnd);
  if (place !== undefined && !(place.keepsFirst && labels[place.role])) {
    const isShared = isRepeated.has(place.role);
    const text = isShared ? shared(bytes, quote + 1, closing) : bytes.toString("utf8", quote + 1, closing);
    labels[place.role] = unescaped(text);
  }
  const after = skipBlanks(bytes, closing + 1, lineEnd);
  return after < lineEnd && bytes[after] === byte.comma ? skipBlanks(bytes, after + 1, lineEnd) : after;
}

/** Position of the closing quote; -1 when the line ends before it. */
function endOfValue(bytes: Buffer, from: number, lineEnd: number): number {
  let at = from;
  while (at < lineEnd) {
    const value = bytes[at];
    if (value === byte.quote) return at;
    at += value === byte.backslash ? 2 : 1;
  }
  return -1;
}

/** `\\`, `\"` and `\n`; any other backslash is literal, as in pages that do not escape at all. */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\([\\"n])/g, (_match, escaped: string) => (escaped === "n" ? "\n" : escaped));
}
