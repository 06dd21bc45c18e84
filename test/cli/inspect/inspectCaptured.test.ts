import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { run } from "../../../cli/run.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { captureIo } from "../captureIo.ts";

const captured = fileURLToPath(new URL("../../captured/", import.meta.url));
const folders = readdirSync(captured).filter((name) => existsSync(`${captured}${name}/page.prom`));

/** What a person read in the page, written down before there was a parser (test/captured/SOURCES.md). */
const oracleSchema = z.object({
  devices: z.array(
    z.object({
      uuid: z.string(),
      gpuInstance: z.string().nullable(),
      gpuUtil: z.number().nullable(),
      grEngineActive: z.number().nullable(),
      smActive: z.number().nullable(),
      fbUsedMiB: z.number().nullable(),
      powerWatts: z.number().nullable(),
      holders: z.array(z.object({ namespace: z.string(), pod: z.string() })),
    }),
  ),
});

type OracleDevice = z.infer<typeof oracleSchema>["devices"][number];

const keyOf = (device: { readonly uuid: string | null; readonly gpuInstance: string | null }): string =>
  `${device.uuid}/${device.gpuInstance ?? ""}`;

/** The parent row of a GPU that shows instances is no device of its own. */
function devicesOf(oracle: readonly OracleDevice[]): readonly OracleDevice[] {
  const cut = new Set(oracle.filter((d) => d.gpuInstance !== null).map((d) => d.uuid));
  return oracle.filter((d) => d.gpuInstance !== null || !cut.has(d.uuid));
}

/** GPU_UTIL says nothing of a MIG instance. */
function activityIn(device: OracleDevice, signal: string | null): number | null {
  if (signal === "gpu_util")
    return device.gpuUtil === null || device.gpuInstance !== null ? null : device.gpuUtil / 100;
  return signal === "sm_active" ? device.smActive : device.grEngineActive;
}

describe("inspect of a captured page says what a person reads in it", () => {
  it("has at least 12 pages of public sources to read", () => {
    expect(folders.length).toBeGreaterThanOrEqual(12);
  });

  it.each(folders)("%s", async (folder) => {
    const io = captureIo();
    const code = await run(["inspect", `${captured}${folder}/page.prom`, "--output", "json"], io);
    expect(code).toBe(0);
    const document = documentSchema.parse(JSON.parse(io.stdout()));
    const oracle = devicesOf(
      oracleSchema.parse(JSON.parse(readFileSync(`${captured}${folder}/expected.json`, "utf8"))).devices,
    );
    expect(document.devices.map(keyOf).sort()).toEqual(oracle.map(keyOf).sort());
    for (const expected of oracle) {
      const device = document.devices.find((d) => keyOf(d) === keyOf(expected));
      expect(device?.memoryUsedBytes ?? null).toBe(
        expected.fbUsedMiB === null ? null : expected.fbUsedMiB * 1024 * 1024,
      );
      expect(device?.powerWatts ?? null).toBe(expected.powerWatts);
      expect(device?.activity ?? null).toBe(activityIn(expected, device?.signal ?? "gpu_util"));
      const holders = (device?.holders ?? []).map(({ namespace, pod }) => `${namespace}/${pod}`).sort();
      expect(holders).toEqual(expected.holders.map(({ namespace, pod }) => `${namespace}/${pod}`).sort());
    }
    const physical = new Set(oracle.map((d) => d.uuid)).size;
    expect(document.pools.reduce((sum, pool) => sum + pool.physicalGpus, 0)).toBeCloseTo(physical, 9);
  });
});
