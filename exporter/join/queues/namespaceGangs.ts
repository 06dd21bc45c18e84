// Needed for the goal `queues` (docs/performance.md).

import type { DeclaredGang } from "./queueSystem.ts";

/**
 * What one queue system declares in one namespace. It is the same object while it has the same gangs, so that what follows from
 * them alone can be kept.
 */
export interface NamespaceGangs {
  readonly namespace: string;
  /** At least one. */
  readonly gangs: readonly DeclaredGang[];
}

/** The same gangs by their namespace. */
export function gangsByNamespace(gangs: readonly DeclaredGang[]): readonly NamespaceGangs[] {
  const groups = Map.groupBy(gangs, ({ namespace }) => namespace);
  return [...groups].map(([namespace, own]) => ({ namespace, gangs: own }));
}
