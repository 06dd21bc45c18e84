import type { Terminal } from "../../exporter/publish/terminal/layout.ts";
import { type OverviewText, overviewColumns } from "../../exporter/publish/terminal/overviewSchema.ts";
import type { Io } from "../io.ts";
import { screenText, type View, views } from "./screenText.ts";
import type { Window } from "./window.ts";

/** A screen that is open. */
export interface OpenScreen {
  /** The number of columns for the next overview. */
  readonly columns: () => number;
  /** Shows another moment; `null` keeps the overview that is shown. `status` is shown above the keys. */
  readonly show: (overview: OverviewText | null, status: readonly string[]) => void;
  /** Resolves when the user quits. */
  readonly ended: Promise<void>;
  readonly close: () => void;
}

/**
 * Opens a screen in a window: keys choose what is shown below the teams. `alone` is the view with which it opens, without the
 * teams above it; by default it opens with the pools.
 */
export function openScreen(
  window: Window,
  io: Pick<Io, "terminal" | "interrupted">,
  source: string,
  alone?: View["name"],
): OpenScreen {
  let [overview, status, scrolled]: [OverviewText | null, readonly string[], number] = [null, [], 0];
  let view: View = views.find(({ name }) => name === alone) ?? views[0];
  const columns = (): number =>
    Math.min(overviewColumns.max, Math.max(overviewColumns.min, window.columns() || overviewColumns.standard));
  const draw = (): void => {
    // What is wider than the window is cut there, not at the 80 columns for which texts are made.
    const terminal: Terminal = { ...io.terminal, source, columns: Math.max(1, window.columns() || columns()) };
    // The last line of the window, where the cursor is, is left free.
    const screen = screenText({ overview, status, view, scrolled, terminal, rows: (window.rows() || 24) - 1, alone });
    scrolled = Math.min(scrolled, screen.mostScrolled);
    window.draw(screen.lines);
  };
  const { promise: quit, resolve } = Promise.withResolvers<void>();
  window.listen((key) => {
    const chosen = views.find((one) => one.key === key);
    const step = steps[key] ?? 0;
    if (key === "q") return resolve();
    if (chosen !== undefined) [view, scrolled] = [chosen, 0];
    scrolled = Math.max(0, scrolled + step);
    draw();
  }, draw);
  return {
    columns,
    show(next, lines) {
      overview = next ?? overview;
      status = lines;
      draw();
    },
    ended: Promise.race([quit, io.interrupted]),
    close: window.close,
  };
}

const steps: Readonly<Record<string, number>> = { up: -1, down: 1, pageup: -10, pagedown: 10, home: -1e6, end: 1e6 };
