import { type Filler, filled, filledTeams } from "./filler.ts";

const day = 86_400;
const firstDay = filled.from / day;
const lastDay = Math.floor(filled.to / day);

/**
 * Workloads that serve: some without a price or with one in part, in one currency or two, some whose tokens are not counted all the
 * time or never, and one that changed its team.
 */
export function fillServing(filler: Filler): void {
  for (let i = 0; i < 24; i += 1) {
    const named = { kind: "Deployment", namespace: `ns-${i % 5}`, name: `${filler.cluster.prefix}server-${i}` };
    const ids = [i, i === 3 ? i + 1 : i].map((at) =>
      groupsOf(filler, named, filledTeams[at % filledTeams.length] ?? ""),
    );
    for (let at = firstDay; at <= lastDay; at += 1) if (!filler.chance(0.3)) fillDay(filler, i, at, ids[at % 2] ?? []);
  }
}

/** The groups of a workload: without a currency, and of each that the cluster has. */
function groupsOf(
  { cluster, insert }: Filler,
  named: Readonly<Record<string, string>>,
  team: string,
): readonly number[] {
  return [null, ...cluster.currencies].map((currency) =>
    insert("served_groups", { ...named, team, currency, last_day: lastDay }),
  );
}

function fillDay({ amount, below, chance, insert }: Filler, i: number, at: number, groups: readonly number[]): void {
  const [done = 0, ...paid] = groups;
  const counts = i % 4 !== 1;
  insert("served_time", {
    day: at,
    served_group: done,
    requests: below(1000),
    prompt_tokens: counts ? below(1e6) : null,
    generated_tokens: counts && i !== 4 ? below(1e6) : null,
    gpu_seconds: i % 6 === 2 ? amount(1, day) : 0,
    uncounted_gpu_seconds: 0,
    cost: null,
  });
  for (const group of i % 3 === 0 ? paid : paid.slice(0, 1)) {
    const gpuSeconds = amount(1, 8 * day);
    const isUncounted = !counts || i === 4 || (i % 8 === 6 && chance(0.2));
    insert("served_time", {
      day: at,
      served_group: group,
      requests: 0,
      prompt_tokens: null,
      generated_tokens: null,
      gpu_seconds: gpuSeconds,
      uncounted_gpu_seconds: isUncounted ? gpuSeconds : 0,
      cost: (gpuSeconds / 3600) * 2.5,
    });
  }
}
