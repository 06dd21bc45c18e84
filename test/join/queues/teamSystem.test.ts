import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type TeamInput, teamSystem } from "../../../exporter/join/queues/teamSystem.ts";
import {
  byName,
  declaredIn,
  domainOf,
  gpus,
  isWellFormed,
  parentsByName,
  physicalGpus,
  pool,
  scopePools,
  shuffled,
} from "./queueRows.ts";

const [a100, h100] = [physicalGpus("A100", 16), physicalGpus("H100", 8)];
const pools = [a100, h100];
const everywhere = domainOf(pools, 24);
const onlyH100 = domainOf([h100], 8);

const input = (parts: Partial<TeamInput>): TeamInput => ({
  pools,
  teams: [],
  resourceQuotas: [],
  present: [],
  ...parts,
});
const works = (team: string, namespace: string, where: readonly string[] | null = null) => ({
  team,
  namespace,
  pools: where,
});
const quota = (namespace: string, hard: Readonly<Record<string, number>>, name = "quota") => ({
  namespace,
  name,
  hard,
  used: {},
});
const terms = (team: string, parts: Partial<TeamInput["teams"][number]> = {}): TeamInput["teams"][number] => ({
  team,
  guarantee: 0,
  weight: 1,
  ...parts,
});

describe("teams without any quota", () => {
  const system = teamSystem(
    input({ present: [works("vision", "v", ["H100"]), works("audio", "a", ["A100", "H100"])] }),
  );

  it("group no pools", () => {
    expect(scopePools(system, pools)).toEqual([]);
    expect(system.isInUse).toBe(true);
  });

  it("are equal leaves where they are", () => {
    const queues = declaredIn(system, onlyH100);
    expect(queues.map(({ kind, name, isLeaf }) => [kind, name, isLeaf])).toEqual([
      ["Team", "audio", true],
      ["Team", "vision", true],
    ]);
    expect(queues[0]).toMatchObject({ guaranteed: 0, limit: Infinity, weight: 1, zeroWeight: "never", parent: null });
    expect(declaredIn(system, domainOf([a100], 16)).map(({ name }) => name)).toEqual(["audio"]);
    expect(system.leafOf?.("vision", "v")).toBe("vision");
  });

  it("are in every domain where what they wait for may run anywhere", () => {
    const waiting = teamSystem(input({ present: [works("vision", "v")] }));
    expect(declaredIn(waiting, onlyH100)).toHaveLength(1);
    expect(declaredIn(waiting, domainOf([a100], 16))).toHaveLength(1);
  });
});

describe("teams of the configuration", () => {
  it("have their terms, with work or without", () => {
    const system = teamSystem(
      input({ teams: [terms("vision", { guarantee: 4, limit: 12, weight: 2 })], present: [works("audio", "a")] }),
    );
    expect(scopePools(system, pools)).toEqual([["A100", "H100"]]);
    const queues = declaredIn(system, everywhere);
    expect(byName(queues, "guaranteed")).toEqual({ audio: 0, vision: 4 });
    expect(byName(queues, "limit")).toEqual({ audio: Infinity, vision: 12 });
    expect(byName(queues, "weight")).toEqual({ audio: 1, vision: 2 });
  });

  it("count over their pools only", () => {
    const system = teamSystem(
      input({
        teams: [terms("vision", { guarantee: 4, pools: ["H100"] })],
        present: [works("vision", "v"), works("audio", "a")],
      }),
    );
    expect(scopePools(system, pools)).toEqual([["H100"]]);
    expect(byName(declaredIn(system, onlyH100), "guaranteed")).toEqual({ audio: 0, vision: 4 });
    expect(byName(declaredIn(system, domainOf([a100], 16)), "guaranteed")).toEqual({ audio: 0, vision: 0 });
  });

  it("add up where several entries count in one domain", () => {
    const entries = [
      terms("vision", { guarantee: 4, limit: 6, pools: ["H100"] }),
      terms("vision", { guarantee: 2, limit: 5, weight: 3, pools: ["A100"] }),
    ];
    const both = declaredIn(teamSystem(input({ teams: entries })), everywhere);
    expect(both).toMatchObject([{ name: "vision", guaranteed: 6, limit: 11, weight: 3 }]);
    const open = declaredIn(teamSystem(input({ teams: [...entries, terms("vision")] })), everywhere);
    expect(open).toMatchObject([{ guaranteed: 6, limit: Infinity }]);
  });

  it("may be without weight: never any surplus", () => {
    const queues = declaredIn(teamSystem(input({ teams: [terms("guest", { weight: 0 })] })), everywhere);
    expect(queues).toMatchObject([{ weight: 0, zeroWeight: "never" }]);
  });

  it("say which pool is not there, and count nowhere then", () => {
    const system = teamSystem(input({ teams: [terms("vision", { guarantee: 4, pools: ["B200"] })] }));
    expect(scopePools(system, pools)).toEqual([]);
    expect(declaredIn(system, everywhere)).toEqual([]);
    expect(system.problems).toMatchObject([{ code: "team-quota-pool-unknown", subject: "vision" }]);
  });
});

describe("ResourceQuotas", () => {
  const divided = teamSystem(
    input({
      teams: [terms("lab", { guarantee: 6 })],
      resourceQuotas: [
        quota("lab-dev", gpus(2)),
        quota("lab-dev", { "nvidia.com/gpu": 3, cpu: 10 }, "other"),
        quota("elsewhere", gpus(0)),
      ],
      present: [works("lab", "lab-dev"), works("lab", "lab-prod"), works("audio", "a")],
    }),
  );

  it("put a leaf for each namespace below its team", () => {
    const queues = declaredIn(divided, everywhere);
    expect(parentsByName(queues)).toEqual({ audio: null, lab: null, "lab/lab-dev": "lab", "lab/lab-prod": "lab" });
    expect(queues.map(({ kind }) => kind)).toEqual(["Team", "Team", "Namespace", "Namespace"]);
    expect(isWellFormed(queues)).toBe(true);
    expect(byName(queues, "guaranteed")).toMatchObject({ lab: 6, "lab/lab-dev": 0, "lab/lab-prod": 0 });
  });

  it("limit by the smallest of them", () => {
    expect(byName(declaredIn(divided, everywhere), "limit")).toMatchObject({
      "lab/lab-dev": 2,
      "lab/lab-prod": Infinity,
    });
  });

  it("lead each pod to its leaf", () => {
    expect(divided.leafOf?.("lab", "lab-dev")).toBe("lab/lab-dev");
    expect(divided.leafOf?.("audio", "a")).toBe("audio");
  });

  it("count over all pools, and not at all where nobody works or no GPUs are named", () => {
    expect(scopePools(divided, pools)).toEqual([["A100", "H100"]]);
    const idle = teamSystem(
      input({
        resourceQuotas: [quota("elsewhere", gpus(0)), quota("a", { "example.com/fpga": 1 })],
        present: [works("audio", "a")],
      }),
    );
    expect(scopePools(idle, pools)).toEqual([]);
    expect(idle.leafOf?.("audio", "a")).toBe("audio");
  });

  it("that are no amount of GPUs everywhere have no limit that is known", () => {
    const mixed = [h100, pool("shared", [], { "nvidia.com/gpu": 0.25 })];
    const system = teamSystem(
      input({ pools: mixed, resourceQuotas: [quota("a", gpus(2))], present: [works("audio", "a")] }),
    );
    expect(byName(declaredIn(system, domainOf(mixed, 10)), "limit")).toEqual({ audio: Infinity, "audio/a": null });
  });

  it("lead every pod to a leaf that is there, whatever the order of what was read", () => {
    const some = fc.constantFrom("x", "y", "z", "__proto__", "constructor");
    const cases = fc
      .record({
        present: fc.array(fc.record({ team: some, namespace: some, pools: fc.constantFrom(null, ["H100"], ["A100"]) })),
        resourceQuotas: fc.array(
          fc.tuple(some, fc.nat(9)).map(([namespace, amount]) => quota(namespace, gpus(amount))),
        ),
        teams: fc.array(fc.tuple(some, fc.nat(9)).map(([team, guarantee]) => terms(team, { guarantee }))),
      })
      .chain((read) =>
        fc.tuple(
          fc.constant(read),
          fc.record({
            present: shuffled(read.present),
            resourceQuotas: shuffled(read.resourceQuotas),
            teams: shuffled(read.teams).map((entries) => [...entries]),
          }),
        ),
      );
    fc.assert(
      fc.property(cases, ([read, other]) => {
        const [first, second] = [teamSystem(input(read)), teamSystem(input(other))];
        for (const domain of [everywhere, onlyH100]) {
          const queues = declaredIn(first, domain);
          expect(declaredIn(second, domain)).toEqual(queues);
          expect(isWellFormed(queues)).toBe(true);
          const leaves = new Set(queues.filter(({ isLeaf }) => isLeaf).map(({ name }) => name));
          for (const { team, namespace, pools: where } of read.present)
            if (where === null || where.some((one) => domain.pools.some((facts) => facts.pool === one)))
              expect(leaves).toContain(first.leafOf?.(team, namespace));
        }
      }),
      { numRuns: 300, seed: 13 },
    );
  });
});
