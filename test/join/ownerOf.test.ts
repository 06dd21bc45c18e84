import { describe, expect, it } from "vitest";
import { type JoinSettings, join } from "../../exporter/join/join.ts";
import { createJoinCache } from "../../exporter/join/joinCache.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import { cluster, everyKind, gpuNode, gpuPod, now, owner, ownerRef } from "./clusterBuilder.ts";
import { defaultSettings, snapshotOf } from "./outcomes.ts";

const settings: JoinSettings = {
  ...defaultSettings,
  digest: {
    ...defaultSettings.digest,
    owner: { label: "example.org/owner", allowed: [{ namespace: "res*", owners: ["ann", "bob"] }] },
  },
};
const train = owner("Job", "train");
const member = (name: string, value: string | null, namespace = "research", above = train) =>
  gpuPod(name, "n", 1, {
    namespace,
    owner: ownerRef(above),
    labels: value === null ? {} : { "example.org/owner": value },
  });
const ownersOf = (parts: Parameters<typeof snapshotOf>[0], given = settings) =>
  snapshotOf({ nodes: [gpuNode("n", 8)], ...parts }, given).workloads.map((workload) => workload.owner);

describe("the owner of a workload", () => {
  it("is nobody unless a label is configured", () => {
    expect(ownersOf({ pods: [member("a", "ann")] }, defaultSettings)).toEqual([null]);
    expect(ownersOf({ pods: [member("a", "ann")] })).toEqual(["ann"]);
  });

  it("is what its author wrote, where the configuration allows that value in that namespace", () => {
    expect(ownersOf({ pods: [member("a", "eve")] })).toEqual([null]);
    expect(ownersOf({ pods: [member("a", "*")] })).toEqual([null]);
    expect(ownersOf({ pods: [member("a", "ann", "ads")] })).toEqual([null]);
  });

  it("is that of the workload where its pods do not say one that is allowed", () => {
    const labelled = owner("Job", "train", null, { labels: { "example.org/owner": "bob" } });
    for (const value of [null, "eve"])
      expect(ownersOf({ owners: [labelled], pods: [member("a", value, "research", labelled)] })).toEqual(["bob"]);
  });

  it("is nobody where its pods name different ones", () => {
    expect(ownersOf({ pods: [member("a", "ann"), member("b", "ann")] })).toEqual(["ann"]);
    expect(ownersOf({ pods: [member("a", "ann"), member("b", "bob")] })).toEqual([null]);
    expect(ownersOf({ pods: [member("a", "ann"), member("b", null)] })).toEqual([null]);
  });

  it("is found again when the rule changes", () => {
    const cache = createJoinCache();
    const state = cluster({ nodes: [gpuNode("n", 8)], pods: [member("a", "ann")], known: everyKind });
    const found = [defaultSettings, settings, defaultSettings].map(
      (given) => join(state, emptyMemory, given, now, cache).snapshot.workloads[0]?.owner,
    );
    expect(found).toEqual([null, "ann", null]);
  });
});
