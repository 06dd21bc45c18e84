import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AnsweredSeries, parseHistoryAnswer } from "../../../exporter/history/prometheusAnswer.ts";

/**
 * Puts samples into the data of a Prometheus that does not run: a file of OpenMetrics with times, or its lines. Throws with
 * promtool's words when it does not take them.
 */
export async function importSamples(samples: string | readonly string[], folder: string): Promise<void> {
  if (typeof samples === "string") return await createBlocks(samples, folder);
  const file = join(folder, "recorded.txt");
  await writeFile(file, [...samples, "# EOF\n"].join(""));
  await createBlocks(file, folder);
  await rm(file);
}

async function createBlocks(file: string, folder: string): Promise<void> {
  // promtool reads the file once for each block: long ones.
  const args = ["tsdb", "create-blocks-from", "--max-block-duration=400h", "openmetrics", file, join(folder, "data")];
  const child = spawn("promtool", args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-2_000);
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`promtool did not import ${file}: ${said}`);
}

/** All series that an expression gives over a span of time. Throws with the server's words when it refuses. */
export async function askRange(
  url: string,
  query: string,
  span: { readonly from: number; readonly to: number; readonly step: number },
): Promise<readonly AnsweredSeries[]> {
  const body = new URLSearchParams({ query, start: `${span.from}`, end: `${span.to}`, step: `${span.step}` });
  const response = await fetch(`${url}/api/v1/query_range`, { method: "POST", body });
  const answer = parseHistoryAnswer(await response.text());
  if (answer.kind === "series") return answer.series;
  throw new Error(`${query}: ${answer.kind === "refused" ? answer.reason : answer.finding}`);
}
