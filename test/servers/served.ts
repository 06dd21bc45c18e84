import { run } from "../../cli/run.ts";
import { plainTerminal } from "../../exporter/publish/terminal/layout.ts";
import { until } from "./kubernetesAdmin.ts";

/** A running `fairlead serve`. */
export interface Served {
  readonly url: string;
  log(): string;
  /** Ends it as Ctrl-C does; what it ends with. */
  stop(): Promise<number>;
}

/**
 * Runs `fairlead serve` on a port that the machine chooses, or with other flags for where it listens; resolves when it does, throws
 * with its log when it ends before.
 */
export async function serve(
  configFile: string,
  listening: readonly string[] = ["--web.listen-address", "127.0.0.1:0"],
): Promise<Served> {
  let [log, interrupt] = ["", (): void => {}];
  const io = {
    out: () => {},
    err: (text: string) => {
      log += text;
    },
    isTerminal: false,
    terminal: plainTerminal,
    interrupted: new Promise<void>((resolve) => {
      interrupt = resolve;
    }),
  };
  const flags = ["serve", "--config.file", configFile, ...listening];
  let endedWith: number | null = null;
  const ended = run(flags, io).then((code) => {
    endedWith = code;
    return code;
  });
  const url = (): string | undefined => /"url":"(http:[^"]+)"/.exec(log)?.[1];
  await until("serve says where it listens", () => url() !== undefined || endedWith !== null);
  const found = url();
  if (found === undefined || endedWith !== null) throw new Error(`serve ended with ${endedWith}: ${log}`);
  return {
    url: found,
    log: () => log,
    stop: async () => {
      interrupt();
      return await ended;
    },
  };
}
