import { type AdviceAct, adviceActs } from "../../model/adviceAct.ts";
import type { Recommendation } from "../../model/recommendation.ts";

/** Open recommendations that ask the same of their reader. */
export interface AdviceGroup {
  readonly act: AdviceAct;
  readonly heading: string;
  readonly all: readonly Recommendation[];
}

const headings: Readonly<Record<AdviceAct, string>> = { do: "Do now", ask: "Ask the owner", watch: "Watch" };

/** What a recommendation asks of its reader: its act, but without any step there is nothing to do by hand, only to watch. */
export function groupOf({ act, steps }: Pick<Recommendation, "act" | "steps">): AdviceAct {
  return act === "do" && steps.length === 0 ? "watch" : act;
}

/** The open ones in their three groups, in the order in which they come. */
export function adviceGroups(all: readonly Recommendation[]): readonly AdviceGroup[] {
  const open = all.filter(({ state }) => state === "open");
  return adviceActs.map((act) => ({ act, heading: headings[act], all: open.filter((one) => groupOf(one) === act) }));
}
