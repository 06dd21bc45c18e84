/**
 * What the short form asks of a ratio at 1,000 nodes where the goal itself does not hold there: what was recorded
 * (`join`: on a busy machine, which it feels most), so that a step back is seen. `null`: not asked, because waiting times on a busy machine say nothing of the code.
 */
export const shortLimits: Readonly<Record<string, number | null>> = {
  cycle: 1.61,
  join: 17,
  "parse-npm": 32.5,
  sync: 2.7,
  "placement-changed": 0.13,
  "page-cycle": null,
};

const walksObjects =
  "walks the objects of a large heap, which a busy neighbour slows more than reading pages: by a half and more, with the same code";

/**
 * Ratios that the short form only says, and why. Those of advice move further beside a busy neighbour than is forgiven; of
 * queues that is not yet distinguished from a change of how it is measured.
 */
export const onlyReported: Readonly<Record<string, string>> = {
  queues: "is the difference of two cycles, garbage collection of other threads included, which is smaller than either",
  "advice-quiet": walksObjects,
  "advice-contended": walksObjects,
};
