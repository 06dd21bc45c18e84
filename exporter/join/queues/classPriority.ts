import type { PriorityClass } from "../../model/cluster.ts";

/**
 * Value of a PriorityClass by its name; without a name, or if it does not exist, that of the global default, or else
 * `otherwise`.
 */
export function classPriority(
  classes: readonly PriorityClass[],
  otherwise: number,
): (priorityClass: string | null) => number {
  const values = new Map(classes.map(({ name, value }) => [name, value]));
  // Kubernetes takes the lowest where several are marked.
  const defaults = classes.filter(({ globalDefault }) => globalDefault).map(({ value }) => value);
  const fallback = defaults.length === 0 ? otherwise : defaults.reduce((a, b) => Math.min(a, b));
  return (priorityClass) => (priorityClass === null ? undefined : values.get(priorityClass)) ?? fallback;
}
