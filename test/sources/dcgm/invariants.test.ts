import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TelemetryPage } from "../../../exporter/model/telemetry.ts";
import type { PageOrigin } from "../../../exporter/sources/dcgm/workload.ts";
import { plainData } from "../../plainData.ts";
import { pageOf, readPage, sample, splitByHost } from "./pages.ts";

const metrics = fc.constantFrom(
  "DCGM_FI_DEV_GPU_UTIL",
  "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
  "DCGM_FI_DEV_FB_USED",
  "DCGM_FI_DEV_FB_FREE",
  "DCGM_FI_DEV_POWER_USAGE",
  "DCGM_FI_DEV_XID_ERRORS",
  "DCGM_FI_DEV_SM_CLOCK",
);
const sharers = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  { pod: "p1", namespace: "a", container: "c" },
  { pod: "p1", namespace: "a", container: "c", vgpu: "0" },
  { pod: "p2", namespace: "a", container: "c", vgpu: "1" },
  { pod: "p2", namespace: "b", container: "d", vgpu: "2", pod_uid: "u" },
  { pod: "x", exported_pod: "p3", exported_namespace: "c", namespace: "gpu" },
  { pod: "x", namespace: "gpu" },
  { GPU_I_ID: "1", GPU_I_PROFILE: "1g.5gb" },
  { GPU_I_ID: "13", GPU_I_PROFILE: "2g.10gb", pod: "p1", namespace: "a" },
  { Hostname: "node-b", modelName: "other" },
);
const values = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom("0.5", "1e400", "2147483632", "NaN", "-1"));
const rows = fc.array(
  fc
    .tuple(metrics, fc.integer({ min: 0, max: 3 }), values, sharers)
    .map(([metric, gpu, value, more]) => sample(metric, gpu, value, more)),
  { minLength: 1, maxLength: 40 },
);
const origins = fc.constantFrom<PageOrigin>("exporter", "prometheus", "file");

function readAs(origin: PageOrigin, bytes: Uint8Array): TelemetryPage | null {
  return readPage(bytes, { target: "t", node: null, receivedAt: 0, origin }).page;
}

describe("whatever the rows are", () => {
  test("their order does not matter", () => {
    const shuffled = rows.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, origins, ([all, other], origin) => {
        expect(plainData(readAs(origin, pageOf(...other)))).toEqual(plainData(readAs(origin, pageOf(...all))));
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  test("repeating any of them changes no device", () => {
    fc.assert(
      fc.property(rows, fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), origins, (all, picks, origin) => {
        const repeated = picks.map((pick) => all[pick % all.length] ?? "");
        const once = readAs(origin, pageOf(...all));
        const twice = readAs(origin, pageOf(...all, ...repeated));
        expect(plainData(twice?.devices)).toEqual(plainData(once?.devices));
        expect(twice?.node).toBe(once?.node);
      }),
      { seed: 12, numRuns: 300 },
    );
  });

  test("a cut body names no device and no pod that the whole body does not, and no larger value", () => {
    fc.assert(
      fc.property(rows, fc.nat(), (all, cut) => {
        const bytes = pageOf(...all);
        const whole = readAs("exporter", bytes)?.devices ?? [];
        const part = readAs("exporter", bytes.subarray(0, cut % bytes.length))?.devices ?? [];
        const uuids = new Set(whole.map(({ uuid }) => uuid));
        const pods = new Set(whole.flatMap(({ claimants }) => claimants.map(({ pod }) => pod)));
        const most = Math.max(...whole.map(({ powerWatts }) => powerWatts ?? Number.NEGATIVE_INFINITY));
        for (const device of part) {
          expect(uuids).toContain(device.uuid);
          expect(device.powerWatts ?? Number.NEGATIVE_INFINITY).toBeLessThanOrEqual(most);
          // A GPU whose instances come later in the page is a whole GPU until then.
          if (!whole.some(({ uuid, gpuInstance }) => uuid === device.uuid && gpuInstance !== null)) {
            for (const { pod } of device.claimants) expect(pods).toContain(pod);
          }
        }
      }),
      { seed: 13, numRuns: 300 },
    );
  });

  test("splitting by host loses and doubles no device", () => {
    fc.assert(
      fc.property(rows, (all) => {
        const { pages } = splitByHost(pageOf(...all), { target: "t", node: null, receivedAt: 0, origin: "file" });
        const keys = pages.flatMap(({ node, devices }) =>
          devices.map(({ uuid, gpuInstance }) => `${node} ${uuid} ${gpuInstance}`),
        );
        expect(new Set(keys).size).toBe(keys.length);
        const uuids = new Set(pages.flatMap(({ devices }) => devices.map(({ uuid }) => uuid)));
        expect(uuids).toEqual(new Set(readAs("file", pageOf(...all))?.devices.map(({ uuid }) => uuid)));
      }),
      { seed: 14, numRuns: 200 },
    );
  });

  test("any bytes are read without a throw, ratios stay within 0..1", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.tuple(rows, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 20 })).map(([all, damage]) => {
        const page = pageOf(...all);
        for (const [at, value] of damage) page[at % page.length] = value;
        return page;
      }),
    );
    fc.assert(
      fc.property(bytes, origins, (page, origin) => {
        for (const device of readAs(origin, page)?.devices ?? []) {
          for (const ratio of [device.gpuUtil, device.grEngineActive]) {
            expect(ratio === null || (ratio >= 0 && ratio <= 1)).toBe(true);
          }
        }
      }),
      { seed: 15, numRuns: 300 },
    );
  });
});
