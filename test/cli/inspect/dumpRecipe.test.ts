import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { watchedKinds } from "../../../exporter/sources/kubernetes/kinds.ts";
import { ownerKinds } from "../../../exporter/sources/kubernetes/ownerKinds.ts";
import { resourceName } from "../../../exporter/sources/kubernetes/rights.ts";
import { documentOfDump } from "../dumpFolder.ts";

const guide = readFileSync(fileURLToPath(new URL("../../../docs/inspect.md", import.meta.url)), "utf8");
/** The commands of the guide, without those that need a node and this repository. */
const recipe = (/To take a dump of your own cluster with `kubectl`[^`]*```sh\n([^`]*)```/.exec(guide)?.[1] ?? "")
  .split("\n")
  .filter((line) => !/^(curl|npm) /.test(line))
  .join("\n");

const kinds = [...Object.values(watchedKinds), ...Object.values(ownerKinds).flat()];

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-recipe-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "gpu-a", uid: "uid-a", creationTimestamp: "2026-11-01T00:00:00Z" },
  status: { capacity: { "nvidia.com/gpu": "8" }, allocatable: { "nvidia.com/gpu": "8" } },
};
const listOf = (items: readonly object[]) => JSON.stringify({ apiVersion: "v1", items, kind: "List", metadata: {} });

/** A `kubectl` of a cluster that serves some kinds; one of them may not be read. */
const kubectl = `#!/bin/sh
case "$1 $2" in
  "api-resources "*) printf '%s\\n' nodes pods namespaces poddisruptionbudgets.policy jobs.batch widgets.example.org ;;
  "get nodes") echo '${listOf([node])}' ;;
  "get pods" | "get poddisruptionbudgets.policy" | "get jobs.batch" | "get configmaps") echo '${listOf([])}' ;;
  *) echo "Error from server (Forbidden): $2 is forbidden" >&2; exit 1 ;;
esac
`;

describe("the recipe for a dump in docs/inspect.md", () => {
  test.each(kinds.map(({ group, resource }) => resourceName(group, resource)))("asks for %s", (name) => {
    expect(recipe.split(/[\s;]+/)).toContain(name);
  });

  test("goes on over kinds that the cluster lacks or that may not be read, and what it writes is read", async () => {
    writeFileSync(path.join(folder, "kubectl"), kubectl, { mode: 0o755 });
    execFileSync("sh", ["-c", recipe], {
      cwd: folder,
      env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
      stdio: ["ignore", "ignore", "ignore"],
    });
    const dump = path.join(folder, "dump");
    expect(readdirSync(dump).sort()).toEqual([
      "configmaps-cluster-autoscaler-status.json",
      "configmaps-kueue-manager-config.json",
      "configmaps-volcano-scheduler-configmap.json",
      "jobs.batch.json",
      "nodes.json",
      "poddisruptionbudgets.policy.json",
      "pods.json",
    ]);
    const { pools, problems } = await documentOfDump(dump);
    // Nobody holds them: that there are no pods was read.
    expect(pools).toMatchObject([{ physicalGpus: 8, allocated: 0, placement: { freeGpus: 8 } }]);
    expect(problems.map(({ code }) => code)).not.toContain("empty-list");
  });
});
