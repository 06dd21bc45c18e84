import { bareRecord } from "../../kernel/bareRecord.ts";
import type { ResourceAmounts, TextMap } from "../../model/node.ts";
import { child, fault, type Place } from "./fields.ts";
import { parseQuantity } from "./quantity.ts";

/** The limits on what is kept from a map of labels or annotations. */
export interface TextMapLimits {
  readonly keep: (key: string) => boolean;
  /** Longer values are cut. */
  readonly maxValueChars: number;
}

/** More keys than this per object are not kept: no rules need them, and the text is untrusted. */
const maxEntries = 256;

/** Labels as Kubernetes limits them (a value has at most 63 characters; files may say anything). */
export const wholeLabels: TextMapLimits = { keep: () => true, maxValueChars: 256 };

/** Copies a map of texts within limits, without a prototype, so that no key can mean more than itself. */
export function textMap(place: Place, key: string, limits: TextMapLimits): TextMap {
  const source = child(place, key);
  const copy = bareRecord<string>();
  let entries = 0;
  for (const name of Object.keys(source.value)) {
    if (name === "__proto__" || !limits.keep(name)) continue;
    const value = source.value[name];
    if (typeof value !== "string") {
      fault(source, name, "text");
      continue;
    }
    if (entries === maxEntries) break;
    entries += 1;
    copy[name] = value.length <= limits.maxValueChars ? value : cut(value, limits.maxValueChars);
  }
  return copy;
}

/** The beginning of a text; a copy, since a slice would keep the whole text in memory. */
export function cut(value: string, chars: number): string {
  return Buffer.from(value.slice(0, chars)).toString();
}

/** Copies a map of quantities as numbers of base units; only names that `keep` accepts. */
export function amounts(place: Place, key: string, keep: (name: string) => boolean): ResourceAmounts {
  const source = child(place, key);
  const copy = bareRecord<number>();
  for (const name of Object.keys(source.value)) {
    if (name === "__proto__" || !keep(name)) continue;
    const amount = parseQuantity(source.value[name]);
    if (amount === null) fault(source, name, "a quantity");
    else copy[name] = amount;
  }
  return copy;
}

/** One quantity of a map, in units of 10^-`decimals`; `null` where it is absent. */
export function quantity(place: Place, key: string, decimals = 0): number | null {
  const found = place.value[key];
  if (found === undefined || found === null) return null;
  const amount = parseQuantity(found, decimals);
  if (amount === null) fault(place, key, "a quantity");
  return amount;
}
