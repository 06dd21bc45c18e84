import type { NodePrice } from "./prices.ts";

/** Adds what GPUs of a node with this price cost in an hour to the sum of its currency. */
export function addHourlyCost(
  costs: Map<string, number>,
  { currency, perGpuHour }: Pick<NodePrice, "currency" | "perGpuHour">,
  gpus: number,
): void {
  costs.set(currency, (costs.get(currency) ?? 0) + gpus * perGpuHour);
}
