import { emitKeypressEvents } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { createLogUpdate } from "log-update";

/** A terminal that is drawn over and whose keys are read. */
export interface Window {
  /** The number of lines of the window, now. */
  readonly rows: () => number;
  /** The number of characters in a line, now. */
  readonly columns: () => number;
  readonly draw: (lines: readonly string[]) => void;
  /** Calls back with each key by its name (`a`, `up`, `pagedown`), and when the window changed its size. */
  readonly listen: (onKey: (key: string) => void, onResize: () => void) => void;
  /** Gives the terminal back as it was. */
  readonly close: () => void;
}

const alternateScreen = { enter: "\u001b[?1049h\u001b[H", leave: "\u001b[?1049l" } as const;

/** Takes over a terminal on its alternate screen, so that what was on it comes back at the end. */
export function openWindow(input: ReadStream, output: WriteStream): Window {
  const log = createLogUpdate(output);
  let stop = (): void => {};
  output.write(alternateScreen.enter);
  return {
    rows: () => output.rows,
    columns: () => output.columns,
    draw: (lines) => log(lines.join("\n")),
    listen(onKey, onResize) {
      const pressed = (_text: string | undefined, key: { name?: string; ctrl?: boolean; sequence?: string }): void =>
        onKey(key.ctrl === true && key.name === "c" ? "q" : (key.name ?? key.sequence ?? ""));
      emitKeypressEvents(input);
      input.setRawMode(true);
      input.on("keypress", pressed);
      input.resume();
      output.on("resize", onResize);
      stop = () => {
        input.off("keypress", pressed);
        output.off("resize", onResize);
        input.setRawMode(false);
        input.pause();
      };
    },
    close() {
      stop();
      log.done();
      output.write(alternateScreen.leave);
    },
  };
}
