/** Finds what a namespace has; `undefined`: nothing. */
export type NamespaceIndex<Found> = (namespace: string) => Found | undefined;

/**
 * Groups things by their namespace. The index of a namespace is made when it is first asked for: in most namespaces nothing is
 * looked up in a moment.
 */
export function byNamespace<Item, Found extends object>(
  items: readonly Item[],
  namespaceOf: (item: Item) => string,
  make: (items: readonly Item[]) => Found,
): NamespaceIndex<Found> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const namespace = namespaceOf(item);
    const group = groups.get(namespace);
    if (group === undefined) groups.set(namespace, [item]);
    else group.push(item);
  }
  const made = new Map<string, Found>();
  return (namespace) => {
    const known = made.get(namespace);
    if (known !== undefined) return known;
    const group = groups.get(namespace);
    if (group === undefined) return undefined;
    const found = make(group);
    made.set(namespace, found);
    return found;
  };
}
