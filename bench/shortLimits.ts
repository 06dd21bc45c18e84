/**
 * What the short form asks of a ratio at 1,000 nodes where the goal itself does not hold there: what was recorded
 * (`join`: on a busy machine, which it feels most), so that a step back is seen. `null`: not asked, because waiting
 * times on a busy machine say nothing of the code.
 */
export const shortLimits: Readonly<Record<string, number | null>> = {
  cycle: 1.61,
  join: 17,
  "parse-npm": 32.5,
  sync: 6.3,
  "placement-changed": 0.3,
  "advice-quiet": 2.7,
  "advice-contended": 7.4,
  page: null,
  "page-cycle": null,
};
