/** Names and reasons are text that someone typed: what is longer is cut, characters. */
const longestText = 500;

/** Why advice was closed that someone does not want. */
export const dismissedBecause = (by: string, reason: string): string =>
  `${by.slice(0, longestText)}: ${reason.slice(0, longestText)}`;

/** Why advice was closed that someone says was carried out: so long as the cluster does not show it, it is that person's word. */
export const takenBecause = (by: string): string => `${by.slice(0, longestText)} says that it is done`;
