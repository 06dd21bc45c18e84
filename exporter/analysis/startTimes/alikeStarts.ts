/** What the line of the queue, and that of the quota domain, let expect; seconds. */
export type Expected = readonly [ofQueue: number, ofDomain: number];

/** Seconds from a look at waiting work to its start: p10, p50 and p90. */
export interface StartSeconds {
  readonly from: number;
  readonly half: number;
  readonly to: number;
}

/** The starts of work that was alike: of one queue, or one shape in it, after it had waited equally long. */
export interface AlikeStarts {
  /** The number of cases that are known. */
  cases(): number;
  /** Takes in that work which was looked at at `lookedAt` started `seconds` later. */
  add(lookedAt: number, expected: Expected, seconds: number): void;
  /** The interval of work that is looked at now, without the part `tail` at each end; `null` while too few starts are known. */
  interval(expected: Expected, tail: number): StartSeconds | null;
}

/**
 * Work that is looked at in the same half hour is in the same line, and its starts are one case, not many: one of them, drawn
 * by their number, stands for all. Without this, an array of a thousand jobs would be all that is known.
 */
const caseSeconds = 1800;
/** Cases that are remembered, and how many are needed for an interval. */
const mostCases = 200;
const leastCases = 20;
/** With so many cases of a shape of its own, the queue's other shapes do not count for it. */
export const ownCases = 40;
const golden = (Math.sqrt(5) - 1) / 2;

/** The starts that one half hour stands for. */
interface Case {
  readonly halfHour: number;
  starts: number;
  /** Logarithms of the time that it took over what each line let expect. */
  ratios: readonly [number, number];
}

/** The cases of one line as ratios in their order. */
type Ratios = Float64Array;

/** Creates a record of starts that is empty. */
export function createAlikeStarts(): AlikeStarts {
  const cases: Case[] = [];
  let sorted: readonly [Ratios, Ratios] | null = null;
  return {
    cases: () => cases.length,
    add(lookedAt, [ofQueue, ofDomain], seconds) {
      const halfHour = Math.floor(lookedAt / caseSeconds);
      const took = Math.max(1, seconds);
      const ratios = [Math.log(took / ofQueue), Math.log(took / ofDomain)] as const;
      const known = cases.findLast((one) => one.halfHour === halfHour);
      if (known === undefined) {
        cases.push({ halfHour, starts: 1, ratios });
        if (cases.length > mostCases) cases.shift();
      } else {
        known.starts += 1;
        // Reservoir sampling: each of n starts stands for the case with the same chance. The draw is spread evenly, not random.
        if (Math.floor(((known.starts * golden) % 1) * known.starts) > 0) return;
        known.ratios = ratios;
      }
      sorted = null;
    },
    interval([ofQueue, ofDomain], tail) {
      if (cases.length < leastCases) return null;
      sorted ??= [sortedRatios(cases, 0), sortedRatios(cases, 1)];
      const [own, all] = sorted;
      return spread(own) <= spread(all) ? secondsOf(own, ofQueue, tail) : secondsOf(all, ofDomain, tail);
    },
  };
}

const sortedRatios = (cases: readonly Case[], line: 0 | 1): Ratios =>
  Float64Array.from(cases, ({ ratios }) => ratios[line]).sort();

const spread = (ratios: Ratios): number => quantile(ratios, 0.9) - quantile(ratios, 0.1);

/** The quantile of split conformal prediction: among n known and one to come, the smallest that is at least `part` of them. */
function quantile(ratios: Ratios, part: number): number {
  const rank = Math.ceil(part * (ratios.length + 1));
  return ratios[Math.min(ratios.length, Math.max(1, rank)) - 1] ?? Number.NaN;
}

const secondsOf = (ratios: Ratios, expected: number, tail: number): StartSeconds => ({
  from: expected * Math.exp(quantile(ratios, tail)),
  half: expected * Math.exp(quantile(ratios, 0.5)),
  to: expected * Math.exp(quantile(ratios, 1 - tail)),
});
