import type { Analysis } from "../../analysis/analysis.ts";
import { type WorkSum, workRatios } from "../../analysis/signals/workSums.ts";
import { gpus, percent } from "../terminal/columns.ts";
import type { Fact } from "./schema.ts";

/** How hard the GPUs of a team work, by pool, and of how many of them this is known. */
export function workFacts(team: string, { signals }: Analysis): Fact[] {
  return signals.teams
    .filter((one) => one.team === team)
    .map(({ pool, work }) => {
      const { tensorActive, dramActive, power } = workRatios(work);
      return {
        name: "works",
        value: `tensor ${percent(tensorActive)}, DRAM ${percent(dramActive)}, power ${percent(power)}`,
        how: `in pool ${pool}: ${known(work)}`,
      };
    });
}

function known({ gpus: all, tensorGpus, dramGpus, powerGpus }: WorkSum): string {
  const parts = [
    ["tensor activity", tensorGpus],
    ["DRAM activity", dramGpus],
    ["power over full power", powerGpus],
  ] as const;
  const of = parts.map(([name, amount]) => (amount < 1e-9 ? `${name} is not known` : `${name} of ${gpus(amount)}`));
  return `of ${gpus(all)} GPUs that its pods hold alone: ${of.join(", ")}`;
}
