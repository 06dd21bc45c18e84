import type { Problem } from "../../exporter/model/problem.ts";
import type { Scenario } from "../../simulator/scenario.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { racksScenario } from "../../simulator/scenarios/racks.ts";
import { traceScenario } from "../../simulator/scenarios/trace.ts";
import { wasteScenario, wasteWork } from "../../simulator/scenarios/waste.ts";

/** What the demo plays. */
export interface DemoChoice {
  /** Folder with real traces; `null` plays a built-in cluster. */
  readonly traceDir: string | null;
  /**
   * `waste` is a small cluster with a stalled job, a dark server and a sick GPU; `racks` is one with racks, none of which takes
   * a waiting gang; `null` is the usual one.
   */
  readonly scenario: "waste" | "racks" | null;
  readonly seed: number;
}

/** A cluster that the demo plays, with the settings of its exporter. */
export interface DemoPlay {
  readonly scenario: Scenario;
  /** The settings of the exporter, as in its configuration file. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Seconds that are played before the first screen; `null` for two cycles. */
  readonly historySeconds: number | null;
  /** Whether there is a ledger with the two weeks before. */
  readonly hasPast: boolean;
}

/** The settings of the demo's exporter, as in its configuration file. */
export const demoSettings: Readonly<Record<string, unknown>> = {
  cluster: "harbor",
  teams: [{ from: "namespace-label", key: "team" }],
};

/** The settings for the scenario `waste`, whose servers are asked for their requests. */
const wasteSettings: Readonly<Record<string, unknown>> = {
  ...demoSettings,
  cluster: "waste",
  serving: { discovery: [{ namespaces: [wasteWork.dark.team, wasteWork.rarelyAsked.team] }] },
};

const minute = 60;

/** Two hours and ten minutes make a dark server, and advice about it is shown some cycles later. */
export const wastePlay = (): DemoPlay => ({
  scenario: wasteScenario(),
  settings: wasteSettings,
  historySeconds: 135 * minute,
  hasPast: false,
});

/** In twenty minutes a gang has waited long enough for advice about it to be shown. */
export const racksPlay = (seed: number): DemoPlay => ({
  scenario: racksScenario(seed),
  settings: { ...demoSettings, cluster: "racks" },
  historySeconds: 20 * minute,
  hasPast: false,
});

/** Finds what is to be played; a problem if it cannot be read. */
export function demoPlay({
  traceDir,
  scenario,
  seed,
}: DemoChoice): { readonly ok: true; readonly play: DemoPlay } | { readonly ok: false; readonly problem: Problem } {
  if (scenario === "waste") return { ok: true, play: wastePlay() };
  if (scenario === "racks") return { ok: true, play: racksPlay(seed) };
  if (traceDir === null) {
    // An hour is long enough for idle holdings to be called so, and to say who has been short for how long.
    const play = { scenario: demoScenario(), settings: demoSettings, historySeconds: 60 * minute, hasPast: true };
    return { ok: true, play };
  }
  const trace = traceScenario(traceDir);
  if (!trace.ok) return trace;
  const settings = { ...demoSettings, cluster: "openb" };
  return { ok: true, play: { scenario: trace.scenario, settings, historySeconds: null, hasPast: false } };
}
