import type { AlertName } from "../../alerts/alertList.ts";
import { runbookUrl } from "../../alerts/annotations.ts";
import { type AlertsConfig, severityIn } from "../../alerts/thresholds.ts";
import type { Colour } from "./colours.ts";
import type { Unit } from "./units.ts";

/** A bound from which on a number has another meaning. */
export interface Limit {
  readonly at: number;
  readonly colour: "watch" | "act";
  /** The alert that fires at this bound; `null` if none does. */
  readonly alert: JudgingAlert | null;
}

/** An alert that judges the same number, and the address of its runbook. */
export interface JudgingAlert {
  readonly name: AlertName;
  readonly runbook: string;
}

/** What the colours of a number mean: each step is the number from which on its colour applies. */
export interface Levels {
  readonly steps: readonly { readonly from: number | null; readonly colour: Colour }[];
  readonly alerts: readonly JudgingAlert[];
}

/** Levels of a number that is neither good nor bad. */
export const neutral: Levels = { steps: [{ from: null, colour: "neutral" }], alerts: [] };

/** A limit that no alert has. */
export function limit(at: number, colour: Limit["colour"]): Limit {
  return { at, colour, alert: null };
}

/**
 * The limit at which an alert fires, from the configuration of the alerts: red if it is critical, else amber. There is no limit
 * while the alert is turned off.
 */
export function limitOf<Name extends AlertName>(
  config: AlertsConfig,
  name: Name,
  pick: (settings: AlertsConfig["alerts"][Name]) => number,
): readonly Limit[] {
  const settings = config.alerts[name];
  if (!settings.enabled) return [];
  const colour = severityIn(config, name) === "critical" ? "act" : "watch";
  return [{ at: pick(settings), colour, alert: { name, runbook: runbookUrl(name, config) } }];
}

/** Levels of a number that is worse the higher it is: green below the first limit. */
export function worseAbove(...limits: readonly Limit[]): Levels {
  const rising = limits.toSorted((a, b) => a.at - b.at);
  return withAlerts(limits, [
    { from: null, colour: "good" },
    ...rising.map(({ at, colour }) => ({ from: at, colour })),
  ]);
}

/** Levels of a number that is worse the lower it is: green from the highest limit on. */
export function worseBelow(...limits: readonly Limit[]): Levels {
  const rising = limits.toSorted((a, b) => a.at - b.at);
  const above = rising.map(({ at }, index) => ({ from: at, colour: rising[index + 1]?.colour ?? ("good" as const) }));
  return withAlerts(limits, [{ from: null, colour: rising[0]?.colour ?? "good" }, ...above]);
}

/** Levels of a number that is worse the lower it is, but not good by itself when it is high: a team may still be short. */
export function doubtfulBelow(...limits: readonly Limit[]): Levels {
  const { steps, alerts } = worseBelow(...limits);
  return { steps: steps.map((step) => (step.colour === "good" ? { ...step, colour: "neutral" } : step)), alerts };
}

/** Levels that are green between limits, for a number that should be near its share. */
export function worseOutside(below: readonly Limit[], above: readonly Limit[]): Levels {
  const low = worseBelow(...below).steps;
  const high = worseAbove(...above).steps.filter(({ from }) => from !== null);
  return withAlerts([...below, ...above], [...low, ...high]);
}

/** The meaning of colours and alerts, for the end of a description: no meaning is shown by colour alone. */
export function levelsText(levels: Levels, unit: Unit): string {
  const { steps } = levels;
  const parts = steps.flatMap(({ from, colour }, index) => {
    const name = colour === "watch" ? "amber" : colour === "act" ? "red" : null;
    if (name === null) return [];
    const to = steps[index + 1]?.from ?? null;
    if (from === null) return to === null ? [] : [`${name} below ${unit.say(to)}`];
    return [to === null ? `${name} from ${unit.say(from)}` : `${name} from ${unit.say(from)} to ${unit.say(to)}`];
  });
  const [first] = parts;
  if (first === undefined) return "";
  const colours = `${parts.join(", ")}.`;
  const alerts = levels.alerts.map(({ name }) => name).join(", ");
  return ` ${colours[0]?.toUpperCase()}${colours.slice(1)}${alerts === "" ? "" : ` Alert: ${alerts}.`}`;
}

function withAlerts(limits: readonly Limit[], steps: Levels["steps"]): Levels {
  const byName = new Map(limits.flatMap(({ alert }) => (alert === null ? [] : [[alert.name, alert] as const])));
  return { steps, alerts: [...byName.values()] };
}
