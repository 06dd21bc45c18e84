import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { Config } from "../../exporter/config/schema.ts";
import { type Advice, noAdvice } from "../../exporter/model/recommendation.ts";
import { plainTerminal, type Terminal } from "../../exporter/publish/terminal/layout.ts";
import { overview, overviewRecord } from "../../exporter/publish/terminal/overview.ts";
import { rackLabel } from "../../simulator/scenarios/racks.ts";
import type { ExporterStack } from "../exporterStack.ts";
import type { Io } from "../io.ts";
import { openScreen } from "../top/watchScreen.ts";
import type { DemoChoice } from "./demoPlay.ts";
import { withIntro } from "./intro.ts";
import { rackView } from "./racks/rackSlots.ts";
import { rackText } from "./racks/rackText.ts";
import { wastedWork } from "./waste/wastedWork.ts";
import { wasteText } from "./waste/wasteText.ts";

/** A demo that is shown. */
export interface ShownDemo {
  readonly stack: ExporterStack;
  readonly config: Config;
  readonly scenario: DemoChoice["scenario"];
}

/** The overview of a moment of a demo; before it is what its scenario is about. */
export function demoText(demo: ShownDemo, analysis: Analysis, terminal: Terminal): string {
  const { stack } = demo;
  const whole = overview(analysis, stack.problems(), adviceOf(stack), terminal);
  const intro = introOf(demo, analysis, terminal);
  return intro === null ? whole : `${intro}\n\n${whole}`;
}

/** What a scenario is about: the wasted GPUs, or the slots of racks; `null` for the usual cluster. */
function introOf({ stack, config, scenario }: ShownDemo, analysis: Analysis, terminal: Terminal): string | null {
  if (scenario === "waste") return wasteText(wastedWork(analysis, adviceOf(stack), config), terminal);
  if (scenario === "racks") return rackText(rackView(analysis, adviceOf(stack), rackLabel), terminal);
  return null;
}

const adviceOf = (stack: ExporterStack): Advice => stack.latest()?.advice ?? noAdvice;

/** The show of a live demo, which is drawn after each cycle. */
export interface Show {
  readonly draw: () => void;
  readonly ended: Promise<void>;
  readonly hasEnded: () => boolean;
  readonly close: () => void;
}

/** Creates the show: on a terminal the screen of `fairlead top`, with `addresses` above its keys, else one overview after the other. */
export async function createShow(
  demo: ShownDemo,
  terminal: Terminal,
  addresses: readonly string[],
  io: Io,
): Promise<Show> {
  const { stack, scenario } = demo;
  const window = await io.openWindow?.();
  const alone = scenario === null ? undefined : "advice";
  const screen = window === undefined ? null : openScreen(window, io, terminal.source, alone);
  const ended = screen?.ended ?? io.interrupted;
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  return {
    draw() {
      const analysis = stack.cycle.latest();
      if (analysis === null) return;
      if (screen === null) return io.out(`${demoText(demo, analysis, terminal)}\n\n${addresses.join("\n")}\n`);
      const columns = screen.columns();
      const record = overviewRecord(analysis, stack.problems(), adviceOf(stack), columns);
      const intro = introOf(demo, analysis, { ...plainTerminal, columns });
      screen.show(intro === null ? record : withIntro(record, intro), addresses);
    },
    ended,
    hasEnded: () => isOver,
    close: () => screen?.close(),
  };
}
