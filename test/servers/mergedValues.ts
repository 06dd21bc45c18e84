/** Values with others over them: maps are merged, anything else is replaced. */
export function mergedValues(values: unknown, over: unknown): unknown {
  if (!isMap(values) || !isMap(over)) return over;
  const merged = Object.entries(over).map(([key, of]) => [
    key,
    Object.hasOwn(values, key) ? mergedValues(values[key], of) : of,
  ]);
  return { ...values, ...Object.fromEntries(merged) };
}

function isMap(of: unknown): of is Readonly<Record<string, unknown>> {
  return typeof of === "object" && of !== null && !Array.isArray(of);
}
