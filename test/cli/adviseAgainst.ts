import { run } from "../../cli/run.ts";
import type { Advice } from "../../exporter/model/recommendation.ts";
import type { Outputs } from "../../exporter/publish/http/outputs.ts";
import { scriptedAdviser, startAdvised } from "../publish/adviceServer.ts";
import { captureIo } from "./captureIo.ts";

/** What a command line ends with and writes. */
export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line. */
export async function fairlead(...args: readonly string[]): Promise<Said> {
  const io = captureIo();
  const code = await run(args, io);
  return { code, out: io.stdout(), err: io.stderr() };
}

/** `fairlead advise` against an exporter with that advice, which lets everybody in unless `outputs` say otherwise. */
export async function adviseAgainst(
  advice: Advice,
  args: readonly string[] = [],
  outputs: Partial<Outputs> = {},
): Promise<Said> {
  const server = await startAdvised(scriptedAdviser(advice).adviser, { users: {}, ...outputs });
  try {
    return await fairlead("advise", "--url", server.url, ...args);
  } finally {
    await server.close();
  }
}
