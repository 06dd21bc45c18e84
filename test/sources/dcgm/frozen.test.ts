import { afterEach, describe, expect, test } from "vitest";
import type { ScrapeTarget } from "../../../exporter/sources/dcgm/discover.ts";
import { frozenAfterSeconds } from "../../../exporter/sources/dcgm/frozen.ts";
import { targetProblems } from "../../../exporter/sources/dcgm/targetProblems.ts";
import { afterAttempt, newRecord, type TargetRecord } from "../../../exporter/sources/dcgm/targetRecord.ts";
import { noQueueing } from "../../../simulator/queues/spec.ts";
import type { Scenario } from "../../../simulator/scenario.ts";
import { exporterOf, gpuNode, workloadOf } from "../../../simulator/scenarios/parts.ts";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { captureNames, captureOf } from "./captures.ts";
import { pageOf, sample } from "./pages.ts";

const util = "DCGM_FI_DEV_GPU_UTIL";
const power = "DCGM_FI_DEV_POWER_USAGE";
const energy = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION";
const startAt = 1_795_000_020;
const maxAgeSeconds = 90;
const frozenAfter = frozenAfterSeconds(maxAgeSeconds);

const target: ScrapeTarget = {
  url: "http://10.0.0.1:9400/metrics",
  node: "node-a",
  auth: { kind: "none" },
  caFile: null,
  insecureSkipVerify: false,
};

function afterPage(record: TargetRecord, bytes: Buffer, now: number): TargetRecord {
  return afterAttempt(record, { ok: true, value: record.reader.read(bytes, now) }, now, frozenAfter);
}

/** The record after pages that came 30 s apart. */
function afterPages(pages: readonly Buffer[], record: TargetRecord = newRecord(target), from = startAt): TargetRecord {
  return pages.reduce((known, bytes, index) => afterPage(known, bytes, from + 30 * index), record);
}

const still = (count: number, page: Buffer): readonly Buffer[] => Array.from({ length: count }, () => page);
const isFrozen = (record: TargetRecord): boolean => record.fault?.code === "exporter-frozen";

describe("a page that does not change", () => {
  const busy = pageOf(sample(util, 0, 97), sample(power, 0, 512.3), sample(energy, 0, 123_456_789));

  test("is used for three minutes, then it is no data, as old as its values", () => {
    expect(afterPages(still(6, busy))).toMatchObject({ fault: null, lastGoodAt: startAt + 150 });
    const record = afterPages(still(7, busy));
    expect(isFrozen(record)).toBe(true);
    expect(record.lastGoodAt).toBe(startAt);
    expect(targetProblems([record], startAt + 180, maxAgeSeconds)).toEqual([
      {
        source: "dcgm",
        code: "exporter-frozen",
        severity: "error",
        subject: "node-a",
        message: expect.stringContaining("no value has changed since 2026-11-18T"),
        nextStep: expect.stringContaining("nv-hostengine"),
      },
    ]);
  });

  test("is named as long as it lasts, and good again with the first value that moves", () => {
    const frozen = afterPages(still(20, busy));
    expect(isFrozen(frozen)).toBe(true);
    expect(frozen.fault?.since).toBe(startAt + 180);
    const moved = pageOf(sample(util, 0, 97), sample(power, 0, 512.3), sample(energy, 0, 123_456_790));
    expect(afterPages([moved], frozen, startAt + 600)).toMatchObject({ fault: null, lastGoodAt: startAt + 600 });
  });

  test("also while the pods on it change, and in another order", () => {
    const rows = [util, power, energy].map((metric) => sample(metric, 0, 50, { pod: "p", namespace: "n" }));
    const others = [energy, util, power].map((metric) => sample(metric, 0, 50, { pod: "q", namespace: "n" }));
    const pages = still(8, busy).map((_page, index) => pageOf(...(index % 2 === 0 ? rows : others)));
    expect(isFrozen(afterPages(pages))).toBe(true);
  });

  test.each<[string, readonly string[]]>([
    [
      "without an energy counter: the values of an idle GPU may stay the same",
      [sample(util, 0, 0), sample(power, 0, 70)],
    ],
    ["an energy counter of 0: the GPU has none", [sample(power, 0, 70), sample(energy, 0, 0)]],
    ["no power is drawn", [sample(power, 0, 0), sample(energy, 0, 5000)]],
    ["power is unknown", [sample(energy, 0, 5000)]],
  ])("says nothing %s", (_case, lines) => {
    expect(afterPages(still(20, pageOf(...lines))).fault).toBeNull();
  });

  describe("for a quarter of an hour without an energy counter", () => {
    const temperature = "DCGM_FI_DEV_GPU_TEMP";
    const doubtful = (...lines: readonly string[]): string | undefined =>
      afterPages(still(31, pageOf(...lines))).fault?.code.replace("exporter-", "");

    test.each<[string, readonly string[]]>([
      ["a power in milliwatts", [sample(util, 0, 0), sample(power, 0, 16.421)]],
      ["whole watts of several GPUs", [sample(power, 0, 70), sample(power, 1, 71)]],
      ["degrees of several GPUs", [sample(temperature, 0, 30), sample(temperature, 1, 31)]],
      ["a counter that counts nothing", [sample(power, 0, 70.5), sample(energy, 0, 0)]],
    ])("is doubted by %s", (_what, lines) => {
      expect(doubtful(...lines)).toBe("doubtful");
      expect(afterPages(still(30, pageOf(...lines))).fault).toBeNull();
    });

    test.each<[string, readonly string[]]>([
      ["whole watts of one GPU", [sample(util, 0, 0), sample(power, 0, 70), sample(temperature, 0, 30)]],
      ["no power and no temperature", [sample(util, 0, 0), sample(util, 1, 0)]],
      ["zeros", [sample(power, 0, 0), sample(power, 1, 0)]],
      [
        "instances of one GPU",
        ["1", "2"].map((id) => sample(temperature, 0, 30, { GPU_I_ID: id, GPU_I_PROFILE: "1g.10gb" })),
      ],
    ])("is believed with %s: its values may really stay the same", (_what, lines) => {
      expect(doubtful(...lines)).toBeUndefined();
    });

    test("is good again with the first value that moves", () => {
      const before = afterPages(still(40, pageOf(sample(power, 0, 16.421))));
      expect(before).toMatchObject({ fault: { code: "exporter-doubtful" }, lastGoodAt: startAt });
      const after = afterPages([pageOf(sample(power, 0, 16.423))], before, startAt + 2400);
      expect(after).toMatchObject({ fault: null, lastGoodAt: startAt + 2400 });
    });
  });

  test("one value that moves is enough: a single GPU's counter may be stuck", () => {
    const pages = still(20, busy).map((_page, index) =>
      pageOf(sample(power, 0, 70), sample(energy, 0, 5000), sample(util, 1, index)),
    );
    expect(afterPages(pages).fault).toBeNull();
  });

  test("a clock that jumps makes no page old", () => {
    const record = afterPages(still(2, busy));
    expect(afterPages([busy], record, startAt + 7200).fault).toBeNull();
    expect(afterPages(still(6, busy), record, startAt - 7200).fault).toBeNull();
    expect(isFrozen(afterPages(still(7, busy), record, startAt - 7200))).toBe(true);
  });

  test.each(captureNames())("captured: %s", (name) => {
    const page = captureOf(name);
    const hasCounter = /TOTAL_ENERGY_CONSUMPTION|total_energy_consumption/i.test(page.toString("latin1"));
    const record = afterPages(still(10, page), newRecord({ ...target, node: null }));
    if (!hasCounter) expect(isFrozen(record)).toBe(false);
    else
      expect(isFrozen(record)).toBe(
        record.pages.some(({ devices }) => devices.some((one) => (one.powerWatts ?? 0) > 0)),
      );
  });
});

describe("exporters of a simulated cluster", () => {
  const running: Simulator[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((simulator) => simulator.stop()));
  });

  function scenarioOf(dialect: Parameters<typeof exporterOf>[0], pods: number): Scenario {
    const workload = workloadOf("Pod", "lab", 1, { kind: "physicalGpus", count: 1 }, { kind: "constant", level: 0.8 });
    return {
      name: "one-node",
      nodes: [gpuNode("n1", "A100", 2, { kind: "whole" }, { exporter: exporterOf(dialect) })],
      namespaces: [{ name: "lab", team: "lab" }],
      priorityClasses: {},
      habits: [
        { name: "busy", workload, initial: pods, everySeconds: null, maxWaiting: 0, runSeconds: null, failRatio: 0 },
      ],
      placed: [],
      queueing: noQueueing,
      placement: "pack",
      warmupSeconds: 120,
      collectionInterval: 30,
      faults: [],
    };
  }

  async function scrape(simulator: Simulator, record: TargetRecord): Promise<TargetRecord> {
    const bytes = Buffer.from(await (await fetch(simulator.metricsUrls.get("n1") ?? "")).arrayBuffer());
    return afterPage(record, bytes, simulator.now());
  }

  async function scrapeFor(simulator: Simulator, record: TargetRecord, seconds: number): Promise<TargetRecord> {
    let known = record;
    for (let passed = 0; passed < seconds; passed += 30) {
      simulator.advance(30);
      known = await scrape(simulator, known);
    }
    return known;
  }

  test.each([
    ["2.4", 2],
    ["old-namespace", 1],
    ["4.5", 2],
    ["4.8.3", 0],
  ] as const)(
    "%s, %i busy GPUs: good while it measures, named while it is frozen, good after it",
    async (dialect, pods) => {
      const simulator = await startSimulator({ scenario: scenarioOf(dialect, pods), seed: 7, startAt });
      running.push(simulator);
      const before = await scrapeFor(simulator, newRecord(target), 600);
      expect(before.fault).toBeNull();
      const off = simulator.fault({ kind: "exporter-frozen", target: "all" });
      expect(isFrozen(await scrapeFor(simulator, before, 120))).toBe(false);
      const frozen = await scrapeFor(simulator, before, 300);
      expect(isFrozen(frozen)).toBe(true);
      off();
      expect((await scrapeFor(simulator, frozen, 60)).fault).toBeNull();
    },
  );
});
