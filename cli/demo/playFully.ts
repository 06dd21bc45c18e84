import type { PlayedCluster } from "./playCluster.ts";

/** Turns of the event loop that are waited: however busy the machine is, the exporter has its share of them. */
const patience = 10_000;

/**
 * Lets time pass and the exporter see all of it, as `PlayedCluster.step` does, but waits for every kind that is read: plays in
 * which someone acts on budgets or owners are the same each time only then. Not for an API with faults. Throws, with the kinds
 * that are behind, where the exporter never sees all: what is played then would not be what is asserted.
 */
export async function playFully({ simulator, stack, step }: PlayedCluster, seconds: number): Promise<void> {
  if (seconds > 0) simulator.advance(seconds);
  const wanted = Number(simulator.resourceVersion());
  const behind = (): readonly string[] =>
    Object.entries(stack.kubernetes.read().resourceVersions)
      .filter(([, version]) => !(Number(version) >= wanted))
      .map(([kind, version]) => `${kind} at ${version}`);
  for (let looks = 0; behind().length > 0; looks++) {
    if (looks === patience) throw new Error(`the exporter has not seen version ${wanted}: ${behind().join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await step(0);
}
