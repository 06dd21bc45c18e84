import { gpuTolerance } from "../../model/gpuTolerance.ts";

/** What may be taken from some places, by takers that may go to some of them each. Physical GPUs. */
export interface Offers {
  /** Takes up to an amount, moving what others have taken to other places of theirs where that helps; what was got. */
  take(taker: number, gpus: number): number;
  /** By taker, then by place. */
  readonly taken: readonly Float64Array[];
}

/**
 * Offers of places, and the places to which each taker may go, its favourite first. Nobody who took loses anything by who comes
 * later, and nothing is left that could have been taken: each taking is an augmenting path.
 */
export function createOffers(offered: readonly number[], takers: readonly (readonly number[])[]): Offers {
  const left = Float64Array.from(offered, (gpus) => Math.max(0, gpus));
  const taken = takers.map(() => new Float64Array(offered.length));
  const takersAt = offered.map((_, place) =>
    takers.flatMap((places, taker) => (places.includes(place) ? [taker] : [])),
  );
  const market: Market = { left, taken, takers, takersAt };
  return {
    taken,
    take(taker, gpus) {
      let wanted = gpus;
      // Mostly more is asked for than there is: nothing is looked for then.
      while (wanted > gpuTolerance && left.some((there) => there > gpuTolerance)) {
        const path = pathFor(taker, market);
        if (path === null) break;
        wanted -= moveAlong(path, wanted, market);
      }
      return gpus - wanted;
    },
  };
}

interface Market {
  readonly left: Float64Array;
  readonly taken: readonly Float64Array[];
  readonly takers: readonly (readonly number[])[];
  /** By place: who may go there. */
  readonly takersAt: readonly (readonly number[])[];
}

/** What a taker takes at a place, or moves there from another one. */
interface Move {
  readonly taker: number;
  readonly from: number | null;
  readonly to: number;
}

/** Moves that make room for a taker: from the place that has some back to one where the taker may go; `null`: there is none. */
function pathFor(taker: number, { left, taken, takers, takersAt }: Market): readonly Move[] | null {
  const moves = new Map<number, Move>();
  const reach = (by: number, from: number | null): void => {
    for (const to of takers[by] ?? []) if (!moves.has(to)) moves.set(to, { taker: by, from, to });
  };
  reach(taker, null);
  // A Map gives what is added while it is walked through.
  for (const place of moves.keys()) {
    if ((left[place] ?? 0) > gpuTolerance) return pathTo(place, moves);
    for (const other of takersAt[place] ?? []) if ((taken[other]?.[place] ?? 0) > gpuTolerance) reach(other, place);
  }
  return null;
}

function pathTo(place: number, moves: ReadonlyMap<number, Move>): readonly Move[] {
  const path: Move[] = [];
  for (let next: number | null = place; next !== null; ) {
    const move = moves.get(next);
    if (move === undefined) break;
    path.push(move);
    next = move.from;
  }
  return path;
}

/** Moves as much as all of a path have; how much. */
function moveAlong(path: readonly Move[], most: number, { left, taken }: Market): number {
  const end = path[0]?.to ?? -1;
  const there = path.flatMap(({ taker, from }) => (from === null ? [] : [taken[taker]?.[from] ?? 0]));
  const gpus = Math.min(most, left[end] ?? 0, ...there);
  for (const { taker, from, to } of path) {
    const own = taken[taker];
    if (own === undefined) continue;
    own[to] = (own[to] ?? 0) + gpus;
    if (from !== null) own[from] = (own[from] ?? 0) - gpus;
  }
  left[end] = (left[end] ?? 0) - gpus;
  return gpus;
}
