import { keepShape } from "../../kernel/inRanges.ts";
import type { QueueDraft } from "./queueDrafts.ts";

type TeamInLeaf = QueueDraft["teams"][number];

/** Counts teams into the `teams` of their leaves; a team is listed once it has anything there. */
export class TeamCounts {
  readonly #queues: readonly QueueDraft[];
  readonly #byLeaf: (Map<string, TeamInLeaf> | undefined)[];
  /** Mostly the next one belongs to the same team. */
  readonly #lastOf: (TeamInLeaf | undefined)[];

  constructor(queues: readonly QueueDraft[]) {
    this.#queues = queues;
    this.#byLeaf = new Array(queues.length).fill(undefined);
    this.#lastOf = new Array(queues.length).fill(undefined);
  }

  /** The entry of a team in a leaf, to add to it. */
  of(leaf: number, team: string): TeamInLeaf {
    const last = this.#lastOf[leaf];
    if (last?.team === team) return last;
    const known = this.#byLeaf[leaf] ?? new Map<string, TeamInLeaf>();
    this.#byLeaf[leaf] = known;
    let own = known.get(team);
    if (own === undefined) {
      own = { team, allocated: 0, pending: 0 };
      known.set(team, own);
      this.#queues[leaf]?.teams.push(own);
    }
    this.#lastOf[leaf] = own;
    return own;
  }
}

keepShape(new TeamCounts([]));

/** Puts the teams of each leaf in order. A leaf is a team's when all of its work is. */
export function nameTeams(queues: readonly QueueDraft[]): void {
  for (const queue of queues) {
    const { teams, kind, isLeaf, name } = queue;
    if (teams.length > 1) teams.sort((a, b) => (a.team < b.team ? -1 : 1));
    const [only] = teams;
    if (only === undefined) queue.team = kind === "Team" && isLeaf ? name : null;
    else queue.team = teams.length === 1 ? only.team : null;
  }
}
