/**
 * What the short form demands of a ratio at 1,000 nodes where the goal itself does not hold at that size. The value is the
 * recorded one, so that a change for the worse is noticed (`join` and `parse-npm` were recorded on a busy machine, which affects them
 * most: the same parser was 36 and 18 times as fast within days).
 * `null`: nothing is demanded, because waiting times on a busy machine show nothing about the code.
 */
export const shortLimits: Readonly<Record<string, number | null>> = {
  cycle: 1.61,
  join: 17,
  "parse-npm": 18,
  sync: 2.7,
  "placement-changed": 0.13,
  "page-cycle": null,
};

const walksObjects =
  "walks the objects of a large heap, which a busy neighbour slows more than reading pages: by a half and more, with the same code";

/**
 * Ratios that the short form only reports, and why. Those of advice change more beside a busy neighbour than the tolerance
 * allows. For those of queues, this is not yet distinguished from a change in how they are measured.
 */
export const onlyReported: Readonly<Record<string, string>> = {
  queues: "is the difference of two cycles, garbage collection of other threads included, which is smaller than either",
  "advice-quiet": walksObjects,
  "advice-contended": walksObjects,
};
