// Needed for the goal `advice-quiet` (docs/performance.md).

/** The most nodes of a cluster in which everything that advice needs is looked at in each cycle. */
const nodesPerTurn = 2500;
/** The same for work that cannot become advice soon. */
const nodesPerLongTurn = 625;

/**
 * The number of cycles in which a cluster of so many nodes is looked at once: 1 for up to 2,500 nodes, and one more for each
 * further 2,500. Each cycle then costs what a cluster of 2,500 nodes costs, and everything has its turn within this many cycles.
 */
export const turnsOf = (nodes: number): number => cyclesOf(nodes, nodesPerTurn);

/**
 * The number of cycles in which work that cannot become advice soon is looked at once: four times as many, so that it costs in
 * each cycle what it costs in a cluster of 625 nodes.
 */
export const longTurnsOf = (nodes: number): number => cyclesOf(nodes, nodesPerLongTurn);

const cyclesOf = (nodes: number, perCycle: number): number => Math.max(1, Math.ceil(nodes / perCycle));
