import { describe, expect, it } from "vitest";
import { findings } from "../../../exporter/analysis/lint/findings.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { leaf, type TestNode, waitingMoment } from "../waiting/waitingBuilder.ts";

const free8: TestNode = { held: [0, 0, 0, 0, 0, 0, 0, 0] };

function promised(gpus: number, nodes: readonly TestNode[]): Snapshot {
  const root = { kind: "Scheduler", name: "kueue", isLeaf: false } as const;
  return waitingMoment(nodes, [], { queues: [leaf({ ...root, guaranteed: 8, declaredGuarantee: gpus })] });
}

describe("quotas above capacity", () => {
  it("are found against the cards that are there, with the difference", () => {
    const [finding, ...others] = findings(promised(12, [free8]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      code: "quota-above-capacity",
      scheduler: "kueue",
      kind: "QuotaDomain",
      name: "H100",
    });
    expect(finding?.reason).toContain("promised 12 GPUs together, but 8 are there: 4 too many");
    expect(findings(promised(8, [free8]))).toEqual([]);
  });

  it("are not made by a cordon or a node that is not ready", () => {
    expect(findings(promised(16, [free8, { ...free8, schedulable: false }]))).toEqual([]);
    expect(findings(promised(16, [free8, { ...free8, ready: false }]))).toEqual([]);
  });

  it("are found in the nodes over which the quota counts, though others of the pool have room", () => {
    const root = { kind: "Scheduler", name: "kueue", isLeaf: false, guaranteed: 8, declaredGuarantee: 12 } as const;
    const domains = ["reserved", "spot"].map((name) => quotaDomain({ name, nodes: new Set([name]), capacity: 8 }));
    const nodes = [
      { ...free8, name: "reserved" },
      { ...free8, name: "spot" },
    ];
    const of = (domain: number) => findings(waitingMoment(nodes, [], { domains, queues: [leaf({ ...root, domain })] }));
    expect(of(0)).toMatchObject([{ code: "quota-above-capacity", name: "reserved" }]);
    const [all] = domains;
    const both = all === undefined ? [] : [{ ...all, nodes: new Set(["reserved", "spot"]) }];
    expect(findings(waitingMoment(nodes, [], { domains: both, queues: [leaf(root)] }))).toEqual([]);
  });

  it("are not told while cards of the pool are not counted", () => {
    expect(findings(promised(16, [free8, { held: [], physicalGpus: null }]))).toEqual([]);
  });
});
