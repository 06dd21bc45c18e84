/**
 * What a user gives, merged into defaults as Helm does it: maps are merged, anything else is replaced, and `null` takes
 * away what is a default (of a map: all that is in it).
 */
export function coalesced(defaults: unknown, given: unknown): unknown {
  if (!isMap(defaults)) return given;
  if (given === null) return {};
  if (!isMap(given)) return given;
  const replaced = Object.entries(given).flatMap(([key, of]) => {
    if (!Object.hasOwn(defaults, key)) return [[key, of]];
    const merged = coalesced(defaults[key], of);
    return merged === null ? [] : [[key, merged]];
  });
  const kept = Object.entries(defaults).filter(([key]) => !Object.hasOwn(given, key));
  return Object.fromEntries([...kept, ...replaced]);
}

function isMap(of: unknown): of is Readonly<Record<string, unknown>> {
  return typeof of === "object" && of !== null && !Array.isArray(of);
}
