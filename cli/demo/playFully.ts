import type { PlayedCluster } from "./playCluster.ts";

/** How many turns of the event loop are waited for: however busy the machine is, the exporter gets its share of them. */
const patience = 10_000;

/**
 * Lets time pass and waits until the exporter has seen everything, as `PlayedCluster.step` does, but for every kind that is
 * read: otherwise, plays in which someone acts on budgets or owners are not the same each time. It is not for an API with
 * faults. Throws, with the kinds that are behind, where the exporter never sees everything: assertions would then be about
 * another play.
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
