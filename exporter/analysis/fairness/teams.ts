import type { QueueView, TeamShare } from "../../join/queues/queueing.ts";
import { innerMap } from "../../kernel/innerMap.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { TeamFairness } from "./fairness.ts";
import { waterFill } from "./waterFill.ts";

/** Sums for teams over the leaves of all domains. */
export interface TeamSums {
  /** Divides what a leaf is entitled to among its teams: equally, but no team gets more than it demands. */
  addLeaf(leaf: QueueView, entitled: number): void;
  /** The totals, ordered by team name, then by domain. */
  totals(): readonly TeamFairness[];
}

interface Sum {
  readonly team: string;
  readonly domain: number;
  allocated: number;
  pending: number;
  entitled: number;
  deviation: number;
}

function addTo(sum: Sum, { allocated, pending }: TeamShare, entitled: number): void {
  sum.allocated += allocated;
  sum.pending += pending;
  sum.entitled += entitled;
  sum.deviation += allocated - entitled;
}

/** Creates sums without any leaf. */
export function createTeamSums(): TeamSums {
  const sums = new Map<number, Map<string, Sum>>();
  const sumOf = (team: string, domain: number): Sum => {
    const ofDomain = innerMap(sums, domain);
    const known = ofDomain.get(team);
    if (known !== undefined) return known;
    const sum = { team, domain, allocated: 0, pending: 0, entitled: 0, deviation: 0 };
    ofDomain.set(team, sum);
    return sum;
  };
  return {
    addLeaf({ teams, domain, kind }, entitled) {
      const [only] = teams;
      if (only === undefined) return;
      if (teams.length === 1) {
        // Most leaves have the work of only one team, which gets all of it.
        const wanted = Math.max(0, only.allocated + only.pending);
        const share = wanted <= entitled + gpuTolerance ? wanted : Math.max(0, entitled);
        addTo(sumOf(only.team, domain), only, kind === "Unqueued" ? only.allocated : share);
        return;
      }
      const demands = teams.map(({ allocated, pending }) => allocated + pending);
      const equal = new Float64Array(teams.length).fill(1);
      const { shares } = waterFill(entitled, demands, equal);
      for (const [i, one] of teams.entries())
        addTo(sumOf(one.team, domain), one, kind === "Unqueued" ? one.allocated : (shares[i] ?? 0));
    },
    totals: () =>
      [...sums.values()]
        .flatMap((ofDomain) => [...ofDomain.values()])
        .sort((a, b) => (a.team < b.team ? -1 : a.team > b.team ? 1 : a.domain - b.domain)),
  };
}
