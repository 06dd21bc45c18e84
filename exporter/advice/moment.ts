import type { Analysis } from "../analysis/analysis.ts";
import type { Config } from "../config/schema.ts";
import type { Problem } from "../model/problem.ts";
import type { Recommendation } from "../model/recommendation.ts";
import type { UsageWatch } from "./usage/usageWatch.ts";
import type { Habits } from "./usage/watchHabits.ts";

/** Settings `advice` of the configuration. */
export type AdviceSettings = Config["advice"];

/** What people see already. */
export type OpenPlan = Pick<Recommendation, "kind" | "targets">;

/** What advice is made from: the answers of one moment, and what was watched until then. */
export interface AdviceMoment {
  readonly analysis: Analysis;
  readonly settings: AdviceSettings;
  /** The most that workloads and queues used of what they have, for as long as they were watched. */
  readonly usage: UsageWatch;
  /** When and how often idle work began to work again; absent: nothing is known. */
  readonly habits?: Habits;
  /** What the sources say is wrong with what they read; the problems of the snapshot are those of joining it. */
  readonly sourceProblems?: readonly Problem[];
  /** Open advice by its id: a plan that is about as good as another keeps its place. */
  readonly open?: ReadonlyMap<string, OpenPlan>;
}
