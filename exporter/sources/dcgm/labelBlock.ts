import { readLabels, unescaped } from "../../kernel/exposition/labels.ts";
import type { LabelBlock } from "../../kernel/exposition/lexer.ts";
import { createTextCache } from "../../kernel/textCache.ts";
import { type LabelRole, labelRoles } from "./dialects.ts";
import { placeOfLabel } from "./vocabulary.ts";

/** The labels of a row that have a meaning; an empty value is `null`, like an absent label. Untrusted text. */
export type RowLabels = Record<LabelRole, string | null>;

/** Labels whose texts are the same on many devices. Each text is kept once: 80,000 GPUs have a handful of models. */
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

/** The labels of a row that has none. */
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

/** The label block whose opening brace is at `open`; `null` when it is malformed. */
export function readLabelBlock(bytes: Buffer, open: number, lineEnd: number): LabelBlock<RowLabels> | null {
  const labels = noLabels();
  const end = readLabels(bytes, open, lineEnd, (nameFrom, nameTo, valueFrom, valueTo) => {
    const place = placeOfLabel(bytes, nameFrom, nameTo);
    if (place === undefined || (place.keepsFirst && labels[place.role])) return;
    const isShared = isRepeated.has(place.role);
    const text = isShared ? shared(bytes, valueFrom, valueTo) : bytes.toString("utf8", valueFrom, valueTo);
    labels[place.role] = unescaped(text);
  });
  if (end < 0) return null;
  for (const role of labelRoles) if (labels[role] === "") labels[role] = null;
  return { labels, end };
}
