import type { PlayedCluster } from "./playCluster.ts";

/** Real time for which it is waited, milliseconds. */
const patience = 5_000;

/**
 * Lets time pass and the exporter see all of it, as `PlayedCluster.step` does, but waits for every kind that is read: plays in
 * which somebody acts on budgets or owners are the same each time only then. Not for an API with faults.
 */
export async function playFully({ simulator, stack, step }: PlayedCluster, seconds: number): Promise<void> {
  if (seconds > 0) simulator.advance(seconds);
  const wanted = Number(simulator.resourceVersion());
  const hasSeenAll = (): boolean =>
    Object.values(stack.kubernetes.read().resourceVersions).every((version) => Number(version) >= wanted);
  const deadline = Date.now() + patience;
  while (!hasSeenAll() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 2));
  await step(0);
}
