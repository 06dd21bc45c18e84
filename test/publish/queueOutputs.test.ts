import { describe, expect, test } from "vitest";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { judgeFairness } from "../../exporter/analysis/fairness/judgeFairness.ts";
import { noAdvice } from "../../exporter/model/recommendation.ts";
import { buildDocument } from "../../exporter/publish/document/buildDocument.ts";
import { documentSchema } from "../../exporter/publish/document/schema.ts";
import { overview } from "../../exporter/publish/terminal/overview.ts";
import { at, health, hostileNames, smallMoment } from "./moment.ts";
import { wholeStartPage } from "./pages/wholeStartPage.ts";
import { queueMoment, waitingGang } from "./queueMoment.ts";

/** The moment, with other names: every queue, team and finding is called the same. */
function renamed(name: string): Analysis {
  const { snapshot } = queueMoment;
  const { queueing } = snapshot;
  const moment: Analysis = {
    ...queueMoment,
    snapshot: {
      ...snapshot,
      queueing: {
        ...queueing,
        queues: queueing.queues.map((queue) => ({ ...queue, name, team: queue.team === null ? null : name })),
        gangs: queueing.gangs.map((gang) => ({ ...gang, name, namespace: name, team: name, reason: name })),
      },
    },
    findings: queueMoment.findings.map((finding) => ({ ...finding, name, reason: name, change: name })),
    waiting: {
      ...queueMoment.waiting,
      deadlocks: queueMoment.waiting.deadlocks.map((one) => ({ ...one, pool: name, gangs: [name, name] })),
    },
  };
  return {
    ...moment,
    fairness: {
      ...judgeFairness(moment.snapshot.queueing, null),
      teams: queueMoment.fairness.teams.map((one) => ({ ...one, team: name })),
    },
  };
}

describe("the overview of a moment with queues", () => {
  const text = overview(queueMoment);
  const row = (team: string) =>
    text
      .split("\n")
      .find((line) => line.startsWith(`  ${team} `))
      ?.trim()
      .split(/ {2,}/);

  test("has a golden page", async () => {
    await expect(`${text}\n`).toMatchFileSnapshot("../golden/queue-overview.txt");
  });

  test("says what each team is entitled to, over all domains", () => {
    expect(row("search")).toEqual(["search", "51.0", "35.0", "35.0", "0.0", "100 %", "-16.0", "16.0 for 42 min"]);
    expect(row("bulk")?.[1]).toBe("–");
    expect(row("stray")?.at(-1)).toBe("4.0 (no node fits)");
  });

  test("says who is short, who has it, and how to ask why", () => {
    expect(text).toContain("holds 31.0 of the 47.0 GPUs it is entitled to: ads has 16.0;");
    expect(text).toContain("-> fairlead explain queue search");
  });

  test("a shortfall of free GPUs is nobody's fault", () => {
    const queues = queueMoment.fairness.queues.map((one, i) =>
      i === 2 && one !== null
        ? { ...one, shortfallByBorrowers: 0, shortfallByIdleGap: 16, actionableShortfall: 0 }
        : one,
    );
    const domains = queueMoment.fairness.domains.map((one) => (one === null ? null : { ...one, pairs: [] }));
    const gap = overview({ ...queueMoment, fairness: { ...queueMoment.fairness, queues, domains } });
    expect(gap.replace(/\n +/g, " ")).toContain("entitled to: 16.0 are free and not given to it");
    expect(gap).not.toContain("ads has");
  });

  test("without queues and waiting work nothing of it is there", () => {
    const without = overview(smallMoment);
    for (const word of ["entitled", "deviation", "WHO IS SHORT", "CONFIGURATION OF QUEUES"])
      expect(without).not.toContain(word);
  });

  test.each(hostileNames.map((name) => [name.slice(0, 20), name]))(
    "fits 100 columns whatever the names are: %j",
    (_, name) => {
      const hostile = overview(renamed(name));
      // A command is one line, whatever its length: it is there to be copied.
      const prose = hostile.split("\n").filter((line) => !line.startsWith("    -> fairlead "));
      for (const line of prose) expect(line.length, line).toBeLessThanOrEqual(100);
      for (const control of ["\u001b", "\u0000"]) expect(hostile).not.toContain(control);
    },
  );

  test("fits 100 columns however large the amounts are: names are shortened", () => {
    const teams = queueMoment.teams.map((one, i) => ({
      ...one,
      team: `a-very-long-name-of-a-team-${i}`,
      allocated: 123_456,
      active: 123_456,
      estimated: 1,
    }));
    const gangs = teams.map(({ team }) => waitingGang({ team, gpus: 123_456, since: at - 85_000 }));
    const snapshot = { ...queueMoment.snapshot, queueing: { ...queueMoment.snapshot.queueing, gangs } };
    const lines = overview({ ...queueMoment, teams, snapshot }).split("\n");
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(100);
    expect(lines.some((line) => line.includes("123456.0 for 23 h 36 min"))).toBe(true);
  });

  test("a name that a shell would take apart is quoted", () => {
    expect(overview(renamed("a b; rm -rf $HOME 'x'"))).toContain(`explain queue 'a b; rm -rf $HOME '\\''x'\\'''`);
  });
});

describe("the document of a moment with queues", () => {
  const document = buildDocument(queueMoment);

  test("is what its schema says, also after a round trip as JSON", () => {
    expect(documentSchema.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
  });

  test("has a record for each queue and domain, with what it is entitled to", () => {
    const search = document.queues.filter(({ name }) => name === "search");
    expect(
      search.map((one) => [one.domain, one.parent, one.allocated, one.entitled, one.deviation, one.limit]),
    ).toEqual([
      ["A100", "kueue", 4, 4, 0, 8],
      ["H100", "ml-org", 31, 47, -16, 48],
    ]);
    expect(search[1]).toMatchObject({
      demand: 47,
      shortfallByBorrowers: 16,
      shortfallByIdleGap: 0,
      actionableShortfall: 16,
      schedulerView: { name: "kueue-weighted-share", value: 0 },
      waiting: { gangs: 1, gpus: { quota: 16 }, oldestSeconds: 2520, late: 1 },
    });
    expect(document.domains.map((one) => [one.domain, one.capacity, one.allocated, one.entitled, one.idleGap])).toEqual(
      [
        ["H100", 96, 96, 96, 0],
        ["A100", 8, 6, 6, 0],
        ["L4", 2, 1, null, null],
      ],
    );
    expect(document.domains[0]?.pairs).toEqual([{ starved: "search", borrower: "ads", gpus: 16 }]);
  });

  test("unknown is null, and no limit is null; infinity keeps its name", () => {
    const bulk = document.queues.find(({ name }) => name === "bulk");
    expect(bulk).toMatchObject({
      entitled: null,
      deviation: null,
      demand: null,
      limit: null,
      reserved: null,
      allocated: 1,
    });
    const vision = document.queues.find(({ name }) => name === "vision");
    expect(vision?.schedulerView).toEqual({ name: "kueue-weighted-share", value: "Infinity" });
    expect(document.teams.map((one) => [one.team, one.entitled, one.deviation])).toEqual([
      ["ads", 24, 16],
      ["bulk", null, null],
      ["crawl", 9, 0],
      ["lab", 2, 0],
      ["search", 51, -16],
      ["stray", null, null],
      ["vision", 16, 0],
    ]);
    expect(document.pools.map((one) => [one.pool, one.domain])).toEqual([
      ["A100", "A100"],
      ["H100", "H100"],
      ["L4", "L4"],
    ]);
  });

  test("waiting work has its cause, its age and the scheduler's own words", () => {
    expect(
      document.pending.map((one) => [one.name, one.cause, one.ageSeconds, one.late, one.never, one.domains]),
    ).toEqual([
      ["odd", "unknown", null, null, null, ["H100"]],
      ["held-back", "constraint", 86_400, null, "paused", ["H100"]],
      ["rank-big", "quota", 2520, true, null, ["H100"]],
      ["embed-v4", "capacity", 600, false, null, ["H100"]],
      ["lost", "constraint", 60, null, "no-node", []],
    ]);
    expect(document.pending[2]).toMatchObject({
      localQueue: "main",
      priorityClass: "high",
      reason: expect.stringMatching(/^insufficient/),
    });
  });

  test("evictions name who took the place, findings the change that fixes them", () => {
    expect(document.evictions).toMatchObject([
      {
        at: "2026-11-21T03:45:00.000Z",
        team: "crawl",
        preemptor: { team: "search" },
        lostGpuSeconds: 7200,
        isUpperBound: true,
      },
    ]);
    expect(document.findings.map(({ code, change }) => [code, change.slice(0, 8)])).toEqual([
      ["kueue-cohort-of-one", "Put bulk"],
      ["kueue-no-reclaim", "Set spec"],
    ]);
    expect(document.deadlocks).toMatchObject([{ pool: "H100", missingGpus: 5, freeGpus: 0 }]);
    expect(document.partialGangs).toHaveLength(2);
  });
});

describe("the document of queues that miss GPUs for other causes", () => {
  const { snapshot, fairness } = queueMoment;
  const setting = "ClusterQueue search has reclaimWithinCohort Never";
  const queues = fairness.queues.map((one, i) =>
    i === 2 && one !== null
      ? {
          ...one,
          shortfall: 24,
          shortfallByBorrowers: 4,
          shortfallByIdleGap: 2,
          shortfallByIndivisible: 10,
          shortfallByAbsentCapacity: [
            { owner: "node_to_come" as const, gpus: 5 },
            { owner: "promised_twice" as const, gpus: 3 },
          ],
          heldBackBy: setting,
          nodeClasses: [
            { nodeClass: "H100 reserved", allocated: 31, entitled: 40 },
            { nodeClass: "H100 spot", allocated: 0, entitled: 7 },
          ],
        }
      : one,
  );
  const heldBack = [{ starved: 2, borrower: 3, gpus: 4, because: setting }];
  const domains = fairness.domains.map((one, i) => (i === 0 && one !== null ? { ...one, pairs: [], heldBack } : one));
  const classes = ["reserved", "spot"].map((type, i) => ({
    name: `H100 ${type}`,
    pool: "H100",
    nodes: new Set([`node-${type}`]),
    capacity: 64 - 32 * i,
  }));
  const views = snapshot.queueing.domains.map((one, i) => (i === 0 ? { ...one, classes } : one));
  const document = buildDocument({
    ...queueMoment,
    snapshot: { ...snapshot, queueing: { ...snapshot.queueing, domains: views } },
    fairness: { ...fairness, queues, domains },
  });
  const [h100, a100, l4] = document.domains;

  test("is what its schema says", () => {
    expect(documentSchema.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
  });

  test("has each cause, whose it is, the setting, and where it holds and may hold", () => {
    expect(document.queues.find(({ name, domain }) => name === "search" && domain === "H100")).toMatchObject({
      shortfall: 24,
      shortfallByBorrowers: 4,
      shortfallByIdleGap: 2,
      shortfallByIndivisible: 10,
      shortfallByAbsentCapacity: { node_to_come: 5, promised_twice: 3 },
      heldBackBy: setting,
      nodeClasses: [
        { nodeClass: "H100 reserved", allocated: 31, entitled: 40 },
        { nodeClass: "H100 spot", allocated: 0, entitled: 7 },
      ],
    });
    expect(document.queues.find(({ name, domain }) => name === "search" && domain === "A100")).toMatchObject({
      shortfall: 0,
      shortfallByAbsentCapacity: {},
      heldBackBy: null,
      nodeClasses: [{ nodeClass: "A100", allocated: 4, entitled: 4 }],
    });
    expect(document.queues.find(({ name }) => name === "bulk")).toMatchObject({
      shortfall: null,
      shortfallByAbsentCapacity: null,
      shortfallByIndivisible: null,
      nodeClasses: null,
    });
    expect(document.queues.find(({ kind }) => kind === "Cohort")?.nodeClasses).toEqual([]);
  });

  test("has the classes of each domain, what is allocated past the queues, and what a setting holds back", () => {
    expect(h100).toMatchObject({
      nodeClasses: [
        { nodeClass: "H100 reserved", capacity: 64 },
        { nodeClass: "H100 spot", capacity: 32 },
      ],
      absentCapacity: { node_to_come: 5, promised_twice: 3 },
      pairs: [],
      heldBack: [{ starved: "search", borrower: "ads", gpus: 4, because: setting }],
      pastQueues: 0,
    });
    expect(a100).toMatchObject({
      pastQueues: 2,
      absentCapacity: {},
      nodeClasses: [{ nodeClass: "A100", capacity: 8 }],
    });
    expect(l4).toMatchObject({ absentCapacity: null });
  });
});

describe("the start page", () => {
  const pageOf = (analysis: Analysis) =>
    wholeStartPage({
      health: health(),
      analysis,
      at,
      advice: noAdvice,
      problems: [],
      telemetryPath: "/metrics",
    });

  test("says who is short, who has it, and where the explanation is", () => {
    const page = pageOf(queueMoment);
    expect(page).toContain('<a href="/queues/search">search</a>');
    expect(page).toContain('<td>31.0 of 47.0</td><td><a href="/queues/ads">ads</a> 16.0</td><td>42 min</td>');
    expect(page).toContain("Gangs block each other");
    expect(page).toContain("Next: Set spec.preemption.reclaimWithinCohort: Any.");
  });

  test("says which GPUs have no nodes, and whose that is, and blames nobody for them", () => {
    const queues = queueMoment.fairness.queues.map((one, i) =>
      i === 2 && one !== null
        ? {
            ...one,
            entitled: 31,
            deviation: 0,
            shortfallByBorrowers: 0,
            actionableShortfall: 0,
            shortfallByAbsentCapacity: [
              { owner: "lost_node" as const, gpus: 10 },
              { owner: "past_queues" as const, gpus: 6 },
            ],
          }
        : one,
    );
    const domains = queueMoment.fairness.domains.map((one) => (one === null ? null : { ...one, pairs: [] }));
    const page = pageOf({ ...queueMoment, fairness: { ...queueMoment.fairness, queues, domains } });
    expect(page).toContain(
      "<td>31.0 of 31.0</td><td>10.0 are guaranteed to it and on nodes that are out of service, 6.0 are guaranteed to it and allocated to pods past the queues</td>",
    );
    expect(page).not.toContain("ads 16.0");
  });

  test("says that all is well, or that it is not known", () => {
    const fairness = {
      ...queueMoment.fairness,
      queues: queueMoment.fairness.queues.map((one) => (one === null ? null : { ...one, shortfall: 0 })),
    };
    expect(pageOf({ ...queueMoment, fairness })).toContain("of L4 it is not known: its nodes cut GPUs differently.");
    const domains = queueMoment.snapshot.queueing.domains.map((one) => ({ ...one, unknownBecause: null }));
    const snapshot = { ...queueMoment.snapshot, queueing: { ...queueMoment.snapshot.queueing, domains } };
    expect(pageOf({ ...queueMoment, snapshot, fairness })).toContain("Every queue holds what it is entitled to.");
    expect(pageOf(smallMoment)).not.toContain("<h2>Queues that miss GPUs</h2>");
  });

  test.each(hostileNames.map((name) => [name.slice(0, 20), name]))("is not broken by any name: %j", (_, name) => {
    const page = pageOf(renamed(name));
    expect(page).not.toContain("<script>");
    expect(page).toContain("<h2>Queues that miss GPUs</h2>");
    expect(page.match(/<table>/g)?.length).toBe(page.match(/<\/table>/g)?.length);
  });
});
