import { describe, expect, test } from "vitest";
import { readsOfSources } from "../../../deploy/rights/reads.ts";
import { watchedKinds } from "../../../exporter/sources/kubernetes/kinds.ts";
import { monitorKinds } from "../../../exporter/sources/kubernetes/monitors/monitorReader.ts";
import { ownerKinds } from "../../../exporter/sources/kubernetes/ownerKinds.ts";
import { resourceName } from "../../../exporter/sources/kubernetes/rights.ts";

const line = (verb: string, group: string, resource: string, right: string | null): string =>
  `${verb} ${resourceName(group, resource)} (${right ?? "always"})`;

describe("what the role allows", () => {
  const allowed = readsOfSources().flatMap(({ group, resources, verbs, right }) =>
    resources.flatMap((resource) => verbs.map((verb) => line(verb, group, resource, right))),
  );

  test("is to list and watch each kind that is watched, and to get each that may own pods, Kueue's own lines, and monitors; no more, no less", () => {
    const watched = Object.values(watchedKinds).flatMap(({ group, resource, right }) => [
      line("list", group, resource, right),
      line("watch", group, resource, right),
    ]);
    const owners = Object.values(ownerKinds)
      .flat()
      .map(({ group, resource, right }) => line("get", group, resource, right));
    const lines = line("get", "visibility.kueue.x-k8s.io", "clusterqueues/pendingworkloads", "kueue");
    const listed = Object.values(monitorKinds).map(({ group, resource }) => line("list", group, resource, "monitors"));
    expect([...allowed].sort()).toEqual([...watched, ...owners, ...listed, lines].sort());
  });

  test("changes nothing and shows no Secret", () => {
    expect(new Set(allowed.map((one) => one.split(" ")[0]))).toEqual(new Set(["get", "list", "watch"]));
    const resources = readsOfSources().flatMap((read) => read.resources);
    expect(
      resources.filter((resource) =>
        /secret|configmap|serviceaccount|token|[*]|[/](?!pendingworkloads$)/.test(resource),
      ),
    ).toEqual([]);
  });

  test("has a reason for each resource", () => {
    for (const { resources, reasons } of readsOfSources()) {
      expect(reasons).toHaveLength(resources.length);
      for (const { purpose, exposes } of reasons) expect([purpose, exposes]).not.toContain("");
    }
  });
});
