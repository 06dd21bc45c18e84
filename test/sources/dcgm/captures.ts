import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Where the captured pages are, one folder each. */
export const capturesFolder = join(import.meta.dirname, "../../captured");

const answerSchema = z.object({
  data: z.object({
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
  }),
});

/** The page of a folder; answers of Prometheus are written as the federation endpoint would. */
export function captureOf(name: string): Buffer {
  const folder = join(capturesFolder, name);
  const files = readdirSync(folder);
  if (files.includes("page.prom")) return readFileSync(join(folder, "page.prom"));
  const lines = files
    .filter((file) => file.startsWith("query-"))
    .flatMap((file) => answerSchema.parse(JSON.parse(readFileSync(join(folder, file), "utf8"))).data.result)
    .map(({ metric: { __name__: metric, ...labels }, value: [at, value] }) => {
      const block = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
      return `${metric}{${block.join(",")}} ${value} ${Math.round(at * 1000)}\n`;
    });
  return Buffer.from(lines.join(""));
}

/** Names of the folders that hold a page. */
export function captureNames(): readonly string[] {
  return readdirSync(capturesFolder).filter((name) => !name.includes(".") && captureOf(name).length > 0);
}
