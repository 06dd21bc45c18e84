import { describe, expect, test } from "vitest";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import {
  createPageReader,
  type PageReader,
  type PageReaderOptions,
} from "../../../exporter/sources/dcgm/pageReader.ts";
import { untilCollected } from "../../untilCollected.ts";
import { oddValues } from "./mutations.ts";
import { labelsOf, pageOf, sample } from "./pages.ts";
import { createTwinReader } from "./twins.ts";

const util = "DCGM_FI_DEV_GPU_UTIL";
const used = "DCGM_FI_DEV_FB_USED";
const power = "DCGM_FI_DEV_POWER_USAGE";
const energy = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION";
const clock = "DCGM_FI_DEV_SM_CLOCK";
const options: PageReaderOptions = { target: "t", node: "node-a", origin: "exporter", splitsByHost: false };
const pod = (name: string, more: Readonly<Record<string, string>> = {}) => ({
  container: "main",
  namespace: "team-a",
  pod: name,
  ...more,
});

function devicesOf(reader: PageReader, ...lines: readonly string[]): readonly DeviceReading[] {
  return reader.read(pageOf(...lines), 0).pages.flatMap(({ devices }) => devices);
}

/** Two GPUs, the first with a pod, with these values. */
function twoGpus(
  value: number,
  order: readonly string[] = [util, clock, power, energy],
  name = "p",
): readonly string[] {
  return order.flatMap((metric) => [
    `# HELP ${metric} help`,
    `# TYPE ${metric} gauge`,
    sample(metric, 0, value, pod(name)),
    sample(metric, 1, value + 1),
  ]);
}

describe("a target's next page is read like its first", () => {
  const first = twoGpus(5);
  test.each<[string, readonly string[]]>([
    ["the same again", first],
    ["other values", twoGpus(7)],
    ["families in another order", twoGpus(7, [energy, power, util, clock])],
    ["devices in another order", [...first].reverse()],
    ["without comments", first.filter((line) => !line.startsWith("#"))],
    ["with carriage returns", first.map((line) => `${line}\r`)],
    ["with time stamps", first.map((line) => (line.startsWith("#") ? line : `${line} 1772476205739`))],
    ["with the end mark of OpenMetrics", [...first, "# EOF"]],
    ["another pod", twoGpus(5, undefined, "q")],
    ["a pod less", first.map((line) => line.replace(/,container=.*\}/, "}"))],
    ["a GPU more", [...first, sample(util, 2, 5)]],
    ["a GPU less", first.filter((line) => !line.includes("GPU-1"))],
    ["a GPU that only a metric shows that nobody asks for", [...first, sample(clock, 3, 5)]],
    ["an error with labels of its own", [...first, sample("DCGM_FI_DEV_XID_ERRORS", 0, 79, { err_code: "79" })]],
    ["MIG instances of a GPU", [...first, sample(power, 0, 90, { GPU_I_ID: "1", GPU_I_PROFILE: "1g.5gb" })]],
    ["rows twice", [...first, ...first]],
    ["rows of another host", [...first, sample(util, 2, 5, { Hostname: "elsewhere" })]],
    ["rows of no device", [...first, `${util}{gpu="0"} 3`, `${util} 3`, 'DCGM_FI_DEV_NVLINK_X{nvlink="1"} 3']],
    ["metrics of others", ["go_goroutines 12", ...first, 'up{job="x"} 1', "go"]],
    ["a brace in a label", first.map((line) => line.replace('pod="p"', 'pod="} 77"'))],
    ["blanks between labels", first.map((line) => line.replaceAll('",', '", '))],
    ["a blank before the labels", first.map((line) => line.replace("{", " {"))],
    ["a label block that does not end", first.map((line) => line.replace("}", ""))],
    ["a long line", [...first, `${sample(util, 0, 5)}${" ".repeat(70_000)}`]],
    ["nothing", []],
    ["a login page", ["<html>", "</html>"]],
  ])("%s", (_case, second) => {
    const twin = createTwinReader(options);
    expect([first, second, first, second].map((lines) => twin.read(pageOf(...lines), 0))).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  test.each(oddValues)("a value that is written %j", (value) => {
    const twin = createTwinReader(options);
    // After an ordinary line, so that the odd one is where it is expected.
    const odd = ["", " ", "\t"].flatMap((blank) => [
      sample(util, 0, 5, pod("p")),
      `${util}{${labelsOf(1)}}${blank}${value}`,
    ]);
    expect([first, odd, odd].map((lines) => twin.read(pageOf(...lines), 0))).toEqual([null, null, null]);
  });

  test("cut anywhere", () => {
    const page = pageOf(...first);
    for (let end = 0; end <= page.length; end += 1) {
      const twin = createTwinReader(options);
      expect([twin.read(page, 0), twin.read(page.subarray(0, end), 1), twin.read(page, 2)]).toEqual([null, null, null]);
    }
  });
});

describe("what did not change keeps its identity", () => {
  test("numbers move: claimants stay the same list", () => {
    const reader = createPageReader(options);
    const [before] = devicesOf(reader, ...twoGpus(5));
    const [after] = devicesOf(reader, ...twoGpus(6, [energy, util, power, clock]));
    expect(after?.gpuUtil).toBe(0.06);
    expect(before?.gpuUtil).toBe(0.05);
    expect(after?.claimants).toHaveLength(1);
    expect(after?.claimants).toBe(before?.claimants);
  });

  test("a pod comes to one GPU: the claimants of the others stay the same lists", () => {
    const reader = createPageReader(options);
    const rows = (second: Readonly<Record<string, string>>) => [
      sample(util, 0, 5, pod("p")),
      sample(util, 1, 5, second),
    ];
    const before = devicesOf(reader, ...rows({}));
    const after = devicesOf(reader, ...rows(pod("q")));
    expect(after.map((device, index) => device.claimants === before[index]?.claimants)).toEqual([true, false]);
  });

  test("a page that came to nothing in between does not matter", () => {
    const reader = createPageReader(options);
    const [before] = devicesOf(reader, ...twoGpus(5));
    expect(devicesOf(reader)).toEqual([]);
    expect(devicesOf(reader, ...twoGpus(6))[0]?.claimants).toBe(before?.claimants);
  });

  test("per-process values: the list changes when and only when one of them does, and only that pod's entry", () => {
    const reader = createPageReader(options);
    const rows = (device: number, one: number, other: number) => [
      sample(used, 0, device),
      sample(used, 0, one, pod("p", { vgpu: "0" })),
      sample(used, 0, other, pod("q", { vgpu: "1" })),
    ];
    const [first] = devicesOf(reader, ...rows(100, 30, 40));
    const [second] = devicesOf(reader, ...rows(110, 30, 40));
    const [third] = devicesOf(reader, ...rows(110, 30, 50));
    expect(first?.claimants.map(({ processMemoryBytes }) => processMemoryBytes)).toEqual(
      [30, 40].map((n) => n * 2 ** 20),
    );
    expect(second?.claimants).toBe(first?.claimants);
    expect(third?.claimants[0]).toBe(first?.claimants[0]);
    expect(third?.claimants[1]).toMatchObject({ pod: "q", processMemoryBytes: 50 * 2 ** 20 });
    expect(first?.claimants[1]).toMatchObject({ pod: "q", processMemoryBytes: 40 * 2 ** 20 });
  });
});

describe("what is kept of a page", () => {
  /** A copy that does not lie in the pool that small buffers share. */
  function ofItsOwnMemory(page: Buffer): Buffer {
    const copy = Buffer.alloc(page.length);
    page.copy(copy);
    return copy;
  }

  /** The reader after a page, and a weak hold on the page's memory. */
  function readOnce(page: Buffer): { readonly reader: PageReader; readonly memory: WeakRef<ArrayBufferLike> } {
    const reader = createPageReader(options);
    reader.read(page, 0);
    return { reader, memory: new WeakRef(page.buffer) };
  }

  test.each([
    ["ordinary", twoGpus(5)],
    ["far too large", Array.from({ length: 5000 }, (_unused, index) => sample(util, index, 5, pod(`p-${index}`)))],
  ])("not its bytes: %s", async (_case, lines) => {
    const { reader, memory } = readOnce(ofItsOwnMemory(pageOf(...lines)));
    await untilCollected(() => memory.deref() === undefined);
    expect(memory.deref()).toBeUndefined();
    expect(reader.read(pageOf(...twoGpus(5)), 1).pages).toHaveLength(1);
  });
});
