import { bareRecord } from "../../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import { child, fault, has, items, type Place, text } from "../fields.ts";
import { parseAmount } from "../quantity.ts";
import { cut } from "../textMap.ts";

/** The longest name that the API allows. */
const maxNameChars = 253;
/** Entries kept of one list or map: no real object has more of what is read with this. */
const maxEntries = 256;

/** A text of at most this many characters; empty if it is absent. */
export function shortText(place: Place, key: string, maxChars: number): string {
  const found = text(place, key) ?? "";
  return found.length <= maxChars ? found : cut(found, maxChars);
}

/** The name of something; empty where it is absent. */
export function nameText(place: Place, key: string): string {
  return shortText(place, key, maxNameChars);
}

/** The name of something; `null` where it is absent or empty. */
export function optionalName(place: Place, key: string): string | null {
  const found = nameText(place, key);
  return found === "" ? null : found;
}

/** The records of a list, not more than any real object has. */
export function someItems(place: Place, key: string, max = maxEntries): readonly Place[] {
  return items(place, key).slice(0, max);
}

/** One quantity in base units with its fraction; `null` where it is absent. */
export function amount(place: Place, key: string): number | null {
  const found = place.value[key];
  if (found === undefined || found === null) return null;
  const read = parseAmount(found);
  if (read === null) fault(place, key, "a quantity");
  return read;
}

/** A map of quantities in base units with their fractions, without a prototype; only names that `keep` accepts. */
export function amountMap(place: Place, key: string, keep: (name: string) => boolean = () => true): ResourceAmounts {
  const source = child(place, key);
  const copy = bareRecord<number>();
  let entries = 0;
  for (const name of Object.keys(source.value)) {
    if (name === "__proto__" || !keep(name)) continue;
    const read = amount(source, name);
    if (read === null) continue;
    if (entries === maxEntries) break;
    entries += 1;
    copy[name.length <= maxNameChars ? name : cut(name, maxNameChars)] = read;
  }
  return copy;
}

/** As `amountMap`; `null` where the object has no such map. */
export function optionalAmounts(place: Place, key: string): ResourceAmounts | null {
  return has(place, key) ? amountMap(place, key) : null;
}
