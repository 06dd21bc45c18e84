/**
 * A copy of data in which views (readings of pages, devices: objects whose properties are getters of a class) are plain objects
 * with the same properties, so that they can be compared with what a test writes down.
 */
export function plainData(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plainData);
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [plainData(key), plainData(one)] as const));
  if (value instanceof Set) return new Set([...value].map(plainData));
  if (ArrayBuffer.isView(value)) return value;
  const getters = gettersOf(Object.getPrototypeOf(value));
  const names = [...Object.keys(value), ...getters];
  return Object.fromEntries(names.map((name) => [name, plainData(Reflect.get(value, name))] as const));
}

function gettersOf(prototype: unknown): readonly string[] {
  if (typeof prototype !== "object" || prototype === null || prototype === Object.prototype) return [];
  const found = Object.entries(Object.getOwnPropertyDescriptors(prototype));
  return found.flatMap(([name, { get }]) => (get === undefined ? [] : [name]));
}
