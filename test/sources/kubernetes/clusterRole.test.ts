import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { watchedKinds } from "../../../exporter/sources/kubernetes/kinds.ts";
import { ownerKinds } from "../../../exporter/sources/kubernetes/ownerKinds.ts";
import {
  pendingWorkloadsSubresource,
  visibilityApi,
} from "../../../exporter/sources/kubernetes/queues/pendingWorkloads.ts";

const file = fileURLToPath(new URL("../../../deploy/dist/fairlead.yaml", import.meta.url));
const texts = z.array(z.string());
const roleSchema = z.object({
  kind: z.literal("ClusterRole"),
  rules: z.array(z.strictObject({ apiGroups: texts, resources: texts, verbs: texts })),
});
type Role = z.output<typeof roleSchema>;

async function shippedRole(): Promise<Role> {
  const roles = parseAllDocuments(await readFile(file, "utf8")).flatMap((document) => {
    const role = roleSchema.safeParse(document.toJS());
    return role.success ? [role.data] : [];
  });
  const [role, ...others] = roles;
  if (role === undefined || others.length > 0) throw new Error(`${file} has ${roles.length} ClusterRoles`);
  return role;
}

/** `verb resource.group`, sorted. */
function allowed(role: Role): readonly string[] {
  const entries = role.rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  );
  return entries.sort();
}

describe("the ClusterRole of deploy/dist/fairlead.yaml", () => {
  it("allows exactly what the code reads", async () => {
    const role = await shippedRole();
    const watched = Object.values(watchedKinds).flatMap(({ group, resource }) => [
      `list ${resource}.${group}`,
      `watch ${resource}.${group}`,
    ]);
    const owners = Object.values(ownerKinds).flatMap((places) =>
      places.map(({ group, resource }) => `get ${resource}.${group}`),
    );
    const asked = `get ${visibilityApi.resource}/${pendingWorkloadsSubresource}.${visibilityApi.group}`;
    expect(allowed(role)).toEqual([...watched, ...owners, asked].sort());
  });

  it("allows no change, no secret and no wildcard", async () => {
    const entries = allowed(await shippedRole());
    expect(entries.filter((entry) => /\*|secrets|configmaps/.test(entry))).toEqual([]);
    expect(entries.filter((entry) => !/^(get|list|watch) /.test(entry))).toEqual([]);
  });
});
