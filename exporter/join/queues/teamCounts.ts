import type { QueueDraft } from "./queueDrafts.ts";

/** Finds the entry of a team in a leaf, to add to it. */
export type TeamCounts = (leaf: number, team: string) => QueueDraft["teams"][number];

/** Counts teams into the `teams` of their leaves; a team is listed once it has anything there. */
export function createTeamCounts(queues: readonly QueueDraft[]): TeamCounts {
  const byLeaf: (Map<string, QueueDraft["teams"][number]> | undefined)[] = new Array(queues.length).fill(undefined);
  // Mostly the next one belongs to the same team.
  const lastOf: (QueueDraft["teams"][number] | undefined)[] = new Array(queues.length).fill(undefined);
  return (leaf, team) => {
    const last = lastOf[leaf];
    if (last?.team === team) return last;
    const known = byLeaf[leaf] ?? new Map<string, QueueDraft["teams"][number]>();
    byLeaf[leaf] = known;
    let own = known.get(team);
    if (own === undefined) {
      own = { team, allocated: 0, pending: 0 };
      known.set(team, own);
      queues[leaf]?.teams.push(own);
    }
    lastOf[leaf] = own;
    return own;
  };
}

/** Puts the teams of each leaf in order. A leaf is a team's when all of its work is. */
export function nameTeams(queues: readonly QueueDraft[]): void {
  for (const queue of queues) {
    const { teams, kind, isLeaf, name } = queue;
    teams.sort((a, b) => (a.team < b.team ? -1 : 1));
    const [only] = teams;
    if (only === undefined) queue.team = kind === "Team" && isLeaf ? name : null;
    else queue.team = teams.length === 1 ? only.team : null;
  }
}
