import type { Analysis } from "../analysis/analysis.ts";
import type { Config } from "../config/schema.ts";
import type { Problem } from "../model/problem.ts";
import type { Recommendation } from "../model/recommendation.ts";
import type { UsageWatch } from "./usage/usageWatch.ts";
import type { Habits } from "./usage/watchHabits.ts";

/** The settings `advice` of the configuration. */
export type AdviceSettings = Config["advice"];

/** The parts of open advice, which people see already, that the next plans are compared with. */
export type OpenPlan = Pick<Recommendation, "kind" | "targets">;

/** The inputs of advice: the answers of one moment, and what was watched until then. */
export interface AdviceMoment {
  readonly analysis: Analysis;
  readonly settings: AdviceSettings;
  /** The most that workloads and queues have used of what they have, for as long as they were watched. */
  readonly usage: UsageWatch;
  /** When and how often idle work began to work again; absent: nothing is known. */
  readonly habits?: Habits;
  /** The faults that the sources report about what they read; the problems of the snapshot are those of joining it. */
  readonly sourceProblems?: readonly Problem[];
  /** Open advice by its id: a plan stays as long as others are not clearly better. */
  readonly open?: ReadonlyMap<string, OpenPlan>;
}
