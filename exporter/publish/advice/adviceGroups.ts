import { type AdviceAct, adviceActs } from "../../model/adviceAct.ts";
import type { Recommendation } from "../../model/recommendation.ts";

/** Open recommendations that ask the same of their reader. */
export interface AdviceGroup {
  readonly act: AdviceAct;
  readonly heading: string;
  /** A sentence that says what sets this group apart. */
  readonly about: string;
  readonly all: readonly Recommendation[];
}

const headings: Readonly<Record<AdviceAct, string>> = { do: "Do now", ask: "Ask the owner", watch: "Watch" };

const sentences: Readonly<Record<AdviceAct, string>> = {
  do: "Every guard allows it, and its steps are commands. Fairlead only advises: people carry them out.",
  ask: "Only the owner of the work can say whether it may be done.",
  watch: "A signal is missing or in doubt: repair it before its values are trusted.",
};

/**
 * What a recommendation asks of its reader. This is its act; but where it has no steps, nothing can be done by hand, only
 * watched.
 */
export function groupOf({ act, steps }: Pick<Recommendation, "act" | "steps">): AdviceAct {
  return act === "do" && steps.length === 0 ? "watch" : act;
}

/** The open recommendations in their three groups; within a group they keep their order. */
export function adviceGroups(all: readonly Recommendation[]): readonly AdviceGroup[] {
  const open = all.filter(({ state }) => state === "open");
  return adviceActs.map((act) => ({
    act,
    heading: headings[act],
    about: sentences[act],
    all: open.filter((one) => groupOf(one) === act),
  }));
}
