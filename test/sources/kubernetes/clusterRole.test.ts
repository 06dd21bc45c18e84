import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { watchedKinds } from "../../../exporter/sources/kubernetes/kinds.ts";
import { ownerKinds } from "../../../exporter/sources/kubernetes/ownerKinds.ts";

interface Role {
  readonly kind: string;
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const file = fileURLToPath(new URL("../../../deploy/clusterrole.yaml", import.meta.url));

/** `verb resource.group`, sorted. */
function allowed(role: Role): readonly string[] {
  const entries = role.rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  );
  return entries.sort();
}

describe("deploy/clusterrole.yaml", () => {
  it("allows exactly what the code reads", async () => {
    const role: Role = parse(await readFile(file, "utf8"));
    const watched = Object.values(watchedKinds).flatMap(({ group, resource }) => [
      `list ${resource}.${group}`,
      `watch ${resource}.${group}`,
    ]);
    const owners = Object.values(ownerKinds).flatMap((places) =>
      places.map(({ group, resource }) => `get ${resource}.${group}`),
    );
    expect(role.kind).toBe("ClusterRole");
    expect(allowed(role)).toEqual([...watched, ...owners].sort());
  });

  it("allows no change, no secret and no wildcard", async () => {
    const entries = allowed(parse(await readFile(file, "utf8")));
    expect(entries.filter((entry) => /\*|secrets|configmaps/.test(entry))).toEqual([]);
    expect(entries.filter((entry) => !/^(get|list|watch) /.test(entry))).toEqual([]);
  });
});
