/** Why a goal was missed, and what follows from it, by the goal's id: written by hand, printed beside the figure. */
export const reasons: Readonly<Record<string, string>> = {};
