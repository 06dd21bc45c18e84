/**
 * What the short form asks of a ratio at 1,000 nodes where the goal itself does not hold there: the median that was
 * recorded on a quiet machine, so that a step back is seen. `null`: not asked, because waiting times on a busy machine
 * say nothing of the code.
 */
export const shortLimits: Readonly<Record<string, number | null>> = {
  cycle: 1.61,
  join: 21.7,
  "parse-npm": 32.5,
  sync: 6.3,
  page: null,
  "page-cycle": null,
};
