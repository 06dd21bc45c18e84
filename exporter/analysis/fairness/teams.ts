import type { QueueView } from "../../join/queues/queueing.ts";
import type { TeamFairness } from "./fairness.ts";
import { waterFill } from "./waterFill.ts";

/** Adds teams up over the leaves of all domains. */
export interface TeamSums {
  /** Divides what a leaf is entitled to among its teams: equally, nobody above what it demands. */
  addLeaf(leaf: QueueView, entitled: number): void;
  /** By team name, then domain. */
  totals(): readonly TeamFairness[];
}

interface Sum {
  readonly team: string;
  readonly domain: number;
  held: number;
  pending: number;
  entitled: number;
  deviation: number;
}

/** Starts to add up. */
export function createTeamSums(): TeamSums {
  const sums = new Map<string, Sum[]>();
  const sumOf = (team: string, domain: number): Sum => {
    const ofTeam = sums.get(team) ?? [];
    if (ofTeam.length === 0) sums.set(team, ofTeam);
    const known = ofTeam.find((sum) => sum.domain === domain);
    if (known !== undefined) return known;
    const sum = { team, domain, held: 0, pending: 0, entitled: 0, deviation: 0 };
    ofTeam.push(sum);
    return sum;
  };
  return {
    addLeaf({ teams, domain, kind }, entitled) {
      if (teams.length === 0) return;
      const demands = teams.map(({ held, pending }) => held + pending);
      const equal = new Float64Array(teams.length).fill(1);
      const { shares } = waterFill(entitled, demands, equal);
      teams.forEach(({ team, held, pending }, i) => {
        const part = kind === "Unqueued" ? held : (shares[i] ?? 0);
        const sum = sumOf(team, domain);
        sum.held += held;
        sum.pending += pending;
        sum.entitled += part;
        sum.deviation += held - part;
      });
    },
    totals: () =>
      [...sums.values()].flat().sort((a, b) => (a.team < b.team ? -1 : a.team > b.team ? 1 : a.domain - b.domain)),
  };
}
