import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { Config } from "../../exporter/config/schema.ts";
import { type Advice, noAdvice } from "../../exporter/model/recommendation.ts";
import type { Terminal } from "../../exporter/publish/terminal/layout.ts";
import { overview, overviewRecord } from "../../exporter/publish/terminal/overview.ts";
import type { ExporterStack } from "../exporterStack.ts";
import type { Io } from "../io.ts";
import { openScreen } from "../top/watchScreen.ts";
import type { DemoChoice } from "./demoPlay.ts";
import { wastedWork } from "./waste/wastedWork.ts";
import { wasteText, withWaste } from "./waste/wasteText.ts";

/** A demo that is shown. */
export interface ShownDemo {
  readonly stack: ExporterStack;
  readonly config: Config;
  readonly scenario: DemoChoice["scenario"];
}

/** The overview of a moment of a demo; the scenario `waste` has the wasted GPUs before it. */
export function demoText({ stack, config, scenario }: ShownDemo, analysis: Analysis, terminal: Terminal): string {
  const advice = adviceOf(stack);
  const whole = overview(analysis, stack.problems(), advice, terminal);
  return scenario === "waste" ? `${wasteText(wastedWork(analysis, advice, config), terminal)}\n\n${whole}` : whole;
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
  const { stack, config, scenario } = demo;
  const window = await io.openWindow?.();
  const alone = scenario === "waste" ? "advice" : undefined;
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
      const advice = adviceOf(stack);
      const columns = screen.columns();
      const record = overviewRecord(analysis, stack.problems(), advice, columns);
      const shown = scenario === "waste" ? withWaste(record, wastedWork(analysis, advice, config), columns) : record;
      screen.show(shown, addresses);
    },
    ended,
    hasEnded: () => isOver,
    close: () => screen?.close(),
  };
}
