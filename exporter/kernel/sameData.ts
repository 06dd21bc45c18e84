/**
 * Whether two values are the same plain data: equal numbers, texts and nulls, lists of the same length and order, records with
 * the same keys. The data must have no cycles; prototypes are not compared.
 */
export function sameData(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (!isObject(one) || !isObject(other)) return false;
  if (Array.isArray(one) || Array.isArray(other)) return sameLists(one, other);
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  // These are loops and not closures, because this runs for every event of a pod with GPUs.
  for (const key of keys) if (!Object.hasOwn(other, key) || !sameData(one[key], other[key])) return false;
  return true;
}

function sameLists(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((entry, index) => sameData(entry, other[index]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
