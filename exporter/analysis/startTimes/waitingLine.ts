/** How much is in a line before a place, and how fast the line moves. */
export interface WaitingLine {
  /** Work takes its place at `at`, seconds since the epoch. */
  enter(place: number, gpus: number, at: number): void;
  /** Work leaves its place because it starts; `counts`: it counts for how fast the line moves. */
  leave(place: number, gpus: number, at: number, counts: boolean): void;
  /**
   * Seconds after which the GPUs before a place, and its own, would have started at the speed of the line; `null` while too few
   * starts are known. The speed is that of the last hundred starts, over the time in which anything waited.
   */
  expectedSeconds(place: number, at: number): number | null;
}

/** From how many of the last starts the speed of a line is taken, and how many are needed. */
const measuredStarts = 100;
const leastStarts = 10;
/** The shortest time over which a speed is measured, seconds. */
const leastSeconds = 60;

interface Mark {
  readonly gpus: number;
  readonly seconds: number;
}

/** Creates an empty line with a number of places, which are numbered in the order in which they are served. */
export function createWaitingLine(places: number): WaitingLine {
  const sums = createPrefixSums(places);
  const marks: Mark[] = [];
  let waiting = 0;
  let startedGpus = 0;
  let busySeconds = 0;
  let seenAt = 0;
  const pass = (at: number): void => {
    if (waiting > 0) busySeconds += at - seenAt;
    seenAt = at;
  };
  return {
    enter(place, gpus, at) {
      pass(at);
      waiting += 1;
      sums.add(place, gpus);
    },
    leave(place, gpus, at, counts) {
      pass(at);
      waiting -= 1;
      sums.add(place, -gpus);
      if (!counts) return;
      startedGpus += gpus;
      marks.push({ gpus: startedGpus, seconds: busySeconds });
      if (marks.length > measuredStarts) marks.shift();
    },
    expectedSeconds(place, at) {
      pass(at);
      const [first, last] = [marks[0], marks.at(-1)];
      if (first === undefined || last === undefined || marks.length <= leastStarts) return null;
      const perSecond = (last.gpus - first.gpus) / Math.max(leastSeconds, last.seconds - first.seconds);
      return perSecond > 0 ? sums.upTo(place) / perSecond : null;
    },
  };
}

/** Sums of the values up to a place, in logarithmic time (Fenwick, "A new data structure for cumulative frequency tables"). */
function createPrefixSums(places: number) {
  const tree = new Float64Array(places + 1);
  return {
    add(place: number, value: number): void {
      for (let i = place + 1; i <= places; i += i & -i) tree[i] = (tree[i] ?? 0) + value;
    },
    /** The sum of the values of this place and all before it. */
    upTo(place: number): number {
      let sum = 0;
      for (let i = place + 1; i > 0; i -= i & -i) sum += tree[i] ?? 0;
      return sum;
    },
  };
}
