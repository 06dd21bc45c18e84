import type { ServesSpec } from "../../../simulator/scenario.ts";
import type { TruthHolder } from "../../../simulator/truth.ts";
import type { ActivityShape } from "../../simulator/scenarios/activity/shapes.ts";

/** What GPUs may be called that are held and do nothing useful. */
export const findings = ["stalled", "no-activity", "no-requests"] as const;
export type Finding = (typeof findings)[number];

/** For how long each must have been so, seconds; the design's times, written down a second time. */
export const windowOf: Readonly<Record<Finding, number>> = {
  stalled: 900,
  "no-activity": 1800,
  "no-requests": 7200,
};

/** How much earlier or later the exporter may see something: its samples and requests are that far apart, seconds. */
export const slackOf: Readonly<Record<Finding, number>> = { stalled: 120, "no-activity": 120, "no-requests": 240 };

/** After this much longer than its window something should have been found, seconds. */
export const patience = 300;

/** What the holder of a GPU does now, by the simulator's own word and by what was drawn; `running`: seconds since its start. */
export function isSo(
  finding: Finding,
  shape: ActivityShape,
  holder: TruthHolder,
  serves: ServesSpec | undefined,
  running: number,
): boolean {
  switch (finding) {
    case "stalled":
      return holder.spins;
    case "no-activity":
      // Servers may be quiet for a day, which is longer than a play.
      return shape.kind !== "Deployment" && holder.hasRun && holder.activity <= 0.05;
    case "no-requests":
      return shape.kind === "Deployment" && serves?.untilSeconds !== undefined && running >= serves.untilSeconds;
  }
}

/** Since when something has been so without a break, and until when it was last so. */
export interface Spell {
  readonly since: number;
  readonly until: number;
}

/** The spell after one more look; a break ends it, but what it was is remembered until another begins. */
export function spellAfter(before: Spell | undefined, so: boolean, at: number, step: number): Spell | undefined {
  if (!so) return before;
  if (before === undefined || at - before.until > step) return { since: at, until: at };
  return { since: before.since, until: at };
}

/** Whether it may be called so at a moment: for long enough, and still, but for how late it is seen. */
export function mayBeCalled(spell: Spell | undefined, finding: Finding, at: number): boolean {
  if (spell === undefined) return false;
  const slack = slackOf[finding];
  return at - spell.until <= slack && spell.until - spell.since >= windowOf[finding] - slack;
}
