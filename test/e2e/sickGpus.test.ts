import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type MemoryPlay, playInMemory } from "../../cli/demo/playInMemory.ts";
import { prepareLedger } from "../../cli/ledgerOutput.ts";
import { run } from "../../cli/run.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { Recommendation } from "../../exporter/model/recommendation.ts";
import type { TruthGpu } from "../../simulator/truth.ts";
import { captureIo } from "../cli/captureIo.ts";
import { sickGpusScenario } from "../simulator/scenarios/sickGpus.ts";
import { createJudge } from "../simulator/truthRecord/judge.ts";
import { startAt, sum, sumBy } from "./accounting.ts";
import { recommendationsNow } from "./advice/closedLoop.ts";

const minute = 60;
const perGpuHour = 3;
/** The errors come after twenty minutes and are repaired after eighty; their codes stay on the pages. */
const [begins, ends, minutes] = [20, 80, 110];

/** What is wrong with one GPU of a team's job, and how that must be reported. */
const sick = {
  ecc: { code: 48, cause: "ecc", tier: "drain" },
  remap: { code: 63, cause: "remap_pending", tier: "today" },
  norows: { code: 64, cause: "remap_failed", tier: "drain" },
  claims: { code: 95, cause: "ecc", tier: "drain" },
} as const;

/** The twins: errors that blame the job. */
const blamed = { crash: 13, fault: 31, stopped: 43, cleanup: 45 } as const;

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-sick-"));
const ledgerFile = path.join(folder, "ledger.db");

let play: MemoryPlay;
/** The GPU of each team that has the error. */
const gpus = new Map<string, TruthGpu>();
/** Cycles in which Fairlead and the simulator do not count the same unavailable GPUs, by team. */
const differing = new Map<string, number>();
const causes = new Map<string, Set<string>>();
/** What the alerts of the three tiers read, by GPU: `tier cause`, and when first and last, minutes. */
const alerted = new Map<string, { readonly says: string; readonly from: number; to: number }>();
/** What was advised of nodes with a sick GPU, by id. */
const advised = new Map<string, Recommendation>();
/** Errors that blame a job, as counted in the end: `team error`. */
let counted: ReadonlyMap<string, number> = new Map();
/** GPU-hours that the simulator has as lost, by team. */
const lostHours = new Map<string, number>();

function breakGpus(): () => void {
  const { physicalGpus } = play.cluster.truth();
  const codes = { ...Object.fromEntries(Object.entries(sick).map(([team, { code }]) => [team, code])), ...blamed };
  const off = Object.entries(codes).map(([team, code]) => {
    const found = physicalGpus.find(({ holders }) => holders.some((holder) => holder.team === team));
    if (found === undefined) throw new Error(`${team} holds no GPU`);
    gpus.set(team, found);
    const physicalGpu = physicalGpus.filter(({ node }) => node === found.node).indexOf(found);
    return play.cluster.fault({ kind: "gpu-xid", node: found.node, physicalGpu, code });
  });
  return () => {
    for (const each of off) each();
  };
}

function noteStates(truth: ReadonlyMap<string, number>): void {
  const analysis = play.stack.cycle.latest();
  if (analysis === null) throw new Error("no cycle was completed");
  const entries = analysis.accountingEntries.list.filter(({ state }) => state === "unavailable");
  const teamOf = (pod: number | null): string => (pod === null ? "" : (analysis.snapshot.pods[pod]?.team ?? ""));
  const found = sumBy(
    entries,
    ({ pod }) => teamOf(pod),
    (entry) => entry.gpus,
  );
  for (const team of new Set([...found.keys(), ...truth.keys()]))
    if (Math.abs((found.get(team) ?? 0) - (truth.get(team) ?? 0)) > 1e-9)
      differing.set(team, (differing.get(team) ?? 0) + 1);
  for (const { pod, cause } of entries)
    causes.set(teamOf(pod), (causes.get(teamOf(pod)) ?? new Set()).add(cause ?? "none"));
  for (const { pool, states, physicalGpus } of analysis.pools)
    expect(Math.abs(sum(Object.values(states)) - physicalGpus), `${pool} adds up`).toBeLessThan(1e-9);
}

/** The series of a metric, by the values of some labels. */
function seriesOf(metric: string, labels: readonly string[]) {
  const family = play.stack.latest()?.families.find(({ name }) => name === metric);
  const places = labels.map((label) => family?.labelNames.indexOf(label) ?? -1);
  return (family?.series ?? []).map(({ labelValues, value }) => ({
    labels: places.map((place) => labelValues[place] ?? ""),
    value,
  }));
}

function applicationErrors(): ReadonlyMap<string, number> {
  const found = seriesOf("fairlead_application_errors_total", ["team", "error"]).filter(({ value }) => value > 0);
  return new Map(found.map(({ labels, value }) => [labels.join(" "), value]));
}

function noteAlerts(at: number): void {
  for (const { labels } of seriesOf("fairlead_sick_gpu_gpus", ["gpu", "tier", "cause"])) {
    const [gpu = "", tier, cause] = labels;
    const says = `${tier} ${cause}`;
    const known = alerted.get(gpu);
    if (known === undefined) alerted.set(gpu, { says, from: at, to: at });
    else {
      expect(says, gpu).toBe(known.says);
      known.to = at;
    }
  }
}

beforeAll(async () => {
  const scenario = sickGpusScenario();
  const priceFile = path.join(folder, "prices.yaml");
  const priced = [{ labels: { "kubernetes.io/hostname": "*" }, perGpuHour, currency: "USD" }];
  writeFileSync(priceFile, JSON.stringify({ currency: "USD", date: "2026-11-02", origin: "test", prices: priced }));
  const config = configSchema.parse({
    cluster: "sick",
    interval: minute,
    teams: [{ from: "namespace-label", key: "team" }],
    prices: { file: priceFile, table: false },
    ledger: { path: ledgerFile },
    advice: { standingCycles: 2 },
  });
  const ledger = await prepareLedger(config);
  if (!ledger.ok || ledger.output === null) throw new Error("a ledger is configured");
  play = await playInMemory({ scenario, seed: 5, startAt, config, ledger: ledger.output });
  const judge = createJudge(scenario, "fairlead.dev/warm-pool");
  let repair = (): void => {};
  for (let cycle = 0; cycle < minutes; cycle++) {
    if (cycle === begins) repair = breakGpus();
    if (cycle === ends) repair();
    await play.step(minute);
    const lost = judge.look(play.cluster.truth()).parts.filter(({ state }) => state === "unavailable");
    const truth = sumBy(
      lost,
      ({ team }) => team ?? "",
      (part) => part.gpus,
    );
    for (const [team, amount] of truth) lostHours.set(team, (lostHours.get(team) ?? 0) + (amount * minute) / 3600);
    noteStates(truth);
    noteAlerts(cycle);
    for (const one of recommendationsNow(play)) if (one.kind === "drain_node") advised.set(one.id, one);
  }
  counted = applicationErrors();
  await play.stop();
  await ledger.output.close();
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rowsOf = z.object({ items: z.array(z.record(z.string(), z.unknown())) });

async function ledgerRows(of: string, by: string): Promise<readonly Record<string, unknown>[]> {
  const io = captureIo();
  const window = ["--from", String(startAt), "--to", String(startAt + 3 * 3600), "--output", "json"];
  const code = await run(["ledger", "query", ledgerFile, "--of", of, "--by", by, ...window], io);
  expect(code, io.stderr()).toBe(0);
  return rowsOf.parse(JSON.parse(io.stdout())).items;
}

describe("a GPU with an XID error of its own", () => {
  it.each(Object.entries(sick))("of team %s is unavailable by its cause while it cannot be used", (team, { cause }) => {
    expect(lostHours.get(team)).toBeCloseTo((ends - begins) / 60, 6);
    // The exporter sees the moment between two cycles in the next one.
    expect(differing.get(team) ?? 0).toBeLessThanOrEqual(1);
    expect([...(causes.get(team) ?? [])]).toEqual([cause]);
  });

  it.each(Object.entries(sick))(
    "of team %s is named to the alert of its tier, and no longer than it lasts",
    (team, one) => {
      const { tier, cause } = one;
      const found = alerted.get(gpus.get(team)?.uuid ?? "");
      expect(found).toEqual({ says: `${tier} ${cause}`, from: begins, to: ends - 1 });
    },
  );

  it("is one outage from its error to its repair, with who held it, however long its code stays on the page", async () => {
    const rows = await ledgerRows("outages", "node,gpu,cause,teams");
    expect(rows).toHaveLength(Object.keys(sick).length);
    for (const [team, { cause }] of Object.entries(sick)) {
      const gpu = gpus.get(team);
      const row = rows.find(({ teams }) => teams === team);
      expect(row).toMatchObject({ node: gpu?.node, gpu: gpu?.uuid, cause, outages: 1, repaired: 1 });
      expect(Number(row?.seconds)).toBeCloseTo((ends - begins) * minute, 6);
      expect(Math.abs(Number(row?.longestBegins) - (startAt + (begins + 1) * minute))).toBeLessThanOrEqual(minute);
    }
  });

  it("costs its team nothing but the time that it was lost", async () => {
    const rows = await ledgerRows("health", "team,cause,currency");
    expect(rows).toHaveLength(Object.keys(sick).length);
    for (const [team, { cause }] of Object.entries(sick)) {
      const row = rows.find((each) => each.team === team);
      expect(row).toMatchObject({ cause, currency: "USD" });
      const hours = lostHours.get(team) ?? 0;
      expect(Number(row?.gpuSeconds) / 3600).toBeCloseTo(hours, 6);
      expect(Number(row?.cost)).toBeCloseTo(hours * perGpuHour, 6);
    }
  });
});

describe("an XID error that blames the job", () => {
  it.each(Object.keys(blamed))("takes nothing from team %s, and alerts nobody", (team) => {
    expect(lostHours.get(team)).toBeUndefined();
    expect(causes.get(team)).toBeUndefined();
    expect(alerted.has(gpus.get(team)?.uuid ?? "")).toBe(false);
  });
});

it("is counted against the team whose job it was, once, where it blames the job", () => {
  expect(Object.fromEntries(counted)).toEqual({
    "crash exception": 1,
    "fault memory_fault": 1,
    "stopped stopped": 1,
    "cleanup stopped": 1,
  });
});

describe("advice about nodes with a sick GPU", () => {
  const ends = Object.entries(sick).filter(([, { tier }]) => tier === "drain");

  it("cordons each node whose fault ends work, and nothing else", () => {
    const all = [...advised.values()].filter(({ act }) => act === "do");
    expect(all.flatMap(({ targets }) => targets).sort()).toEqual(
      ends.map(([team]) => `Node ${gpus.get(team)?.node}`).sort(),
    );
    for (const { steps } of all)
      expect(steps.map(({ request }) => [request.verb, request.path.replace(/[^/]*$/, ""), request.body])).toEqual([
        ["PATCH", "/api/v1/nodes/", expect.objectContaining({ spec: { unschedulable: true } })],
      ]);
  });

  it("asks the owner of the work on it, with what a restart would undo, and stops nothing", () => {
    const asked = [...advised.values()].filter(({ act }) => act === "ask");
    expect(asked.map(({ fromTeam }) => fromTeam).sort()).toEqual(ends.map(([team]) => team).sort());
    for (const one of asked) {
      expect(one.questions[0]?.facts.join()).toContain(gpus.get(one.fromTeam)?.uuid);
      expect(one.cost).toMatchObject({ pods: 1, teams: [one.fromTeam], isUpperBound: false });
      expect(JSON.stringify(one)).not.toMatch(/kubectl|"verb"/);
    }
  });
});

it("adds up to all GPUs, in the accounts and in the ledger", async () => {
  expect(play.stack.problems().map(({ code }) => code)).not.toContain("accounts-do-not-close");
  expect(play.stack.cycle.health().cycles.failed).toBe(0);
  const io = captureIo();
  expect(await run(["ledger", "check", ledgerFile], io), io.stderr()).toBe(0);
  expect(io.stdout()).toContain("sound, and the accounts close");
});
