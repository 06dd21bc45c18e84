import { expect, it } from "vitest";
import { createAdviser } from "../../exporter/advice/adviser.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { adviceKinds } from "../../exporter/model/recommendation.ts";
import { page } from "../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../join/outcomes.ts";
import { kueueMoment } from "./kinds/kueueCluster.ts";

const interval = 30;

/** Search is owed a node that ads borrows. */
const { analysis, settings } = kueueMoment({
  nodes: { a: 8, b: 8 },
  queues: [
    { name: "ads", nominal: 8 },
    { name: "search", nominal: 8 },
  ],
  running: ["a", "b"].map((node) => ({ name: `job-${node}`, queue: "ads", nodes: [node], gpusPerPod: 8 })),
  waiting: [{ name: "next", queue: "search", pods: 1, gpusPerPod: 8 }],
});
const after = (cycles: number): Analysis => ({
  ...analysis,
  snapshot: { ...analysis.snapshot, at: analysis.snapshot.at + cycles * interval },
});
const broken = (cycles: number): Analysis => ({
  ...after(cycles),
  get blocked(): Analysis["blocked"] {
    throw new Error("broken");
  },
});

it("advice that could not be worked out again stays for as long as it is valid", () => {
  const adviser = createAdviser({ ...settings, standingCycles: 1 }, interval);
  const states = () => adviser.latest().recommendations.map(({ kind, state }) => [kind, state]);
  adviser.advise(after(0));
  expect(states()).toEqual([["reclaim", "open"]]);
  expect(() => adviser.advise(broken(1))).toThrow("broken");
  expect(states()).toEqual([["reclaim", "open"]]);
  expect(() => adviser.advise(broken(2))).toThrow("broken");
  expect(states()).toEqual([["reclaim", "expired"]]);
  adviser.advise(after(3));
  expect(states()).toEqual([["reclaim", "open"]]);
  expect(adviser.latest().recommendations[0]).toMatchObject({ openings: 2 });
});

it("the same advice has the same id and title in another process", () => {
  const idsOf = (given: Analysis) => {
    const adviser = createAdviser({ ...settings, standingCycles: 1 }, interval);
    return adviser.advise(given).recommendations.map(({ id, title }) => [id, title]);
  };
  expect(idsOf(analysis)).toEqual(idsOf(after(1000)));
  expect(idsOf(analysis)).toHaveLength(1);
});

it("who has not read the objects says for every kind why there is none, and not that all is well", () => {
  const pagesAlone = analysed(snapshotOf({ telemetry: [page("n1", [])], known: new Set() }));
  const adviser = createAdviser({ ...settings, disabledKinds: ["reclaim"] }, interval);
  const { recommendations, withheld } = adviser.advise(pagesAlone);
  expect(recommendations).toEqual([]);
  expect(withheld.map(({ kind }) => kind)).toEqual(adviceKinds);
  expect(withheld[0]).toMatchObject({ kind: "reclaim", why: "disabled" });
  expect(withheld[1]?.reason).toContain("nodes and pods of the Kubernetes API are not known");
});
