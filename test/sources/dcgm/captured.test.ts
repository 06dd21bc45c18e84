import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { DeviceReading, TelemetryPage } from "../../../exporter/model/telemetry.ts";
import { captureOf, capturesFolder } from "./captures.ts";
import { splitByHost } from "./pages.ts";

/** What a person read in the page. Units are the exporter's. */
const expectedSchema = z.object({
  devices: z.array(
    z.object({
      uuid: z.string(),
      gpuInstance: z.string().nullable(),
      profile: z.string().nullable(),
      model: z.string().nullable(),
      node: z.string().nullable(),
      gpuUtil: z.number().nullable(),
      grEngineActive: z.number().nullable(),
      smActive: z.number().nullable(),
      fbUsedMiB: z.number().nullable(),
      powerWatts: z.number().nullable(),
      holders: z.array(z.object({ namespace: z.string(), pod: z.string() })),
    }),
  ),
});
type ExpectedDevice = z.infer<typeof expectedSchema>["devices"][number];

function expectedOf(name: string): readonly ExpectedDevice[] {
  const { devices } = expectedSchema.parse(
    JSON.parse(readFileSync(join(capturesFolder, name, "expected.json"), "utf8")),
  );
  // The oracle lists the rows that a person sees at both levels of a MIG GPU; a reader of devices counts the parts only.
  const cut = new Set(devices.filter(({ gpuInstance }) => gpuInstance !== null).map(({ uuid }) => uuid));
  return devices.filter(({ uuid, gpuInstance }) => gpuInstance !== null || !cut.has(uuid));
}

function found(page: TelemetryPage, device: DeviceReading): ExpectedDevice {
  return {
    uuid: device.uuid,
    gpuInstance: device.gpuInstance,
    profile: device.profile,
    model: device.modelName,
    node: page.node,
    gpuUtil: device.gpuUtil === null ? null : device.gpuUtil * 100,
    grEngineActive: device.grEngineActive,
    smActive: device.smActive,
    fbUsedMiB: device.memoryUsedBytes === null ? null : device.memoryUsedBytes / 1024 / 1024,
    powerWatts: device.powerWatts,
    holders: device.claimants.map(({ namespace, pod }) => ({ namespace, pod })),
  };
}

const byKey = (one: ExpectedDevice, other: ExpectedDevice): number =>
  `${one.uuid} ${one.gpuInstance}` < `${other.uuid} ${other.gpuInstance}` ? -1 : 1;

const captures = readdirSync(capturesFolder).filter((name) => existsSync(join(capturesFolder, name, "expected.json")));

describe("captured pages read as a person reads them", () => {
  test("there are captures", () => {
    expect(captures.length).toBeGreaterThan(10);
  });

  test.each(captures)("%s", (name) => {
    const { pages } = splitByHost(captureOf(name), { target: name, node: null, receivedAt: 0, origin: "file" });
    const devices = pages.flatMap((page) => page.devices.map((device) => found(page, device)));
    expect(devices.sort(byKey)).toEqual([...expectedOf(name)].sort(byKey));
  });
});

describe("what is dropped from captured pages", () => {
  test.each([
    ["datadog-t4-mixed", { no_device: 9 }],
    ["readme-blank-value", { malformed_line: 2 }],
    ["a800-mig-mixed-node", {}],
    ["h100-eks-one-worker", {}],
    ["upcloud-l40s-idle", {}],
  ])("%s", (name, dropped) => {
    const { pages } = splitByHost(captureOf(name), { target: name, node: null, receivedAt: 0, origin: "file" });
    expect(pages.map((page) => page.dropped).filter((drops) => Object.keys(drops).length > 0)).toEqual(
      Object.keys(dropped).length > 0 ? [dropped] : [],
    );
  });
});
