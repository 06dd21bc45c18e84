import type { ExitCode, Io } from "../../io.ts";
import { burstText } from "./burstTable.ts";
import { playBurst } from "./playBurst.ts";

/** Plays one burst under three policies, and prints what the exporter saw of each in one table. */
export async function demoBurst(seed: number, io: Io): Promise<ExitCode> {
  const onPolicy = (policy: string): void => io.err(`fairlead: playing seven hours under ${policy} ...\n`);
  io.out(`${burstText(await playBurst({ seed, onPolicy }))}`);
  return 0;
}
