import { cp, readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { helmTemplate } from "../../deploy/output/helm.ts";
import { type InstalledObject, objectsIn } from "../../deploy/output/installedObject.ts";
import { baseValues, components, namespaceObject, overlays } from "../../deploy/output/kustomize.ts";
import { plainValues, staticFiles, staticRelease } from "../../deploy/output/staticFiles.ts";
import { type Helm, runProgram, startHelm, writeFiles } from "./deployHelm.ts";
import { sharedByIdentity } from "./deployObjects.ts";
import { mergedValues } from "./mergedValues.ts";
import { installed } from "./program.ts";

/** What does not need Helm: kustomize's base, components and overlays, and the plain file, beside what a real Helm makes. */
let helm: Helm;
let kubectl: string;

const dist = fileURLToPath(new URL("../../deploy/dist", import.meta.url));

beforeAll(async () => {
  helm = await startHelm();
  kubectl = join(await installed("install-kube-servers.sh"), "kubectl");
  await cp(dist, helm.folder, { recursive: true });
});

afterAll(async () => await helm?.stop());

async function kustomized(folder: string): Promise<readonly InstalledObject[]> {
  const { code, stdout, stderr } = await runProgram(kubectl, ["kustomize", join(helm.folder, folder)]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return objectsIn(stdout);
}

/** A user's own folder: the base with some components. */
async function kustomizedWith(name: string, added: readonly string[]): Promise<readonly InstalledObject[]> {
  const kustomization = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: ["../../kustomize/base"],
    components: added.map((one) => `../../kustomize/components/${one}`),
  };
  await writeFiles(helm.folder, { [`user/${name}/kustomization.yaml`]: JSON.stringify(kustomization) });
  return await kustomized(`user/${name}`);
}

/** What Helm makes of values, and the namespace, which Helm makes by an option. */
async function fromHelm(values: unknown): Promise<Readonly<Record<string, unknown>>> {
  return sharedByIdentity([namespaceObject, ...(await helm.objects(values, { ...staticRelease, apiVersions: [] }))]);
}

const valuesOf = (added: readonly string[]): unknown =>
  Object.entries(components)
    .filter(([name]) => added.includes(name))
    .reduce<unknown>((values, [, given]) => withSwitches(values, given), baseValues);

/** Components only switch things on: what one of them leaves off must not undo what another has switched on. */
function withSwitches(values: unknown, given: unknown): unknown {
  const on: unknown = JSON.parse(JSON.stringify(given), (_, part: unknown) => (part === false ? undefined : part));
  return mergedValues(values, on);
}

describe("kustomize", () => {
  it("makes of the base what Helm makes of the same values", async () => {
    expect(sharedByIdentity(await kustomized("kustomize/base"))).toEqual(await fromHelm(baseValues));
  });

  it.each(Object.entries(overlays))("makes of the overlay %s what Helm makes", async (name, added) => {
    expect(sharedByIdentity(await kustomized(`kustomize/overlays/${name}`))).toEqual(await fromHelm(valuesOf(added)));
  });

  it.each(Object.entries(components))("makes of the base with %s what Helm makes", async (name, values) => {
    const made = sharedByIdentity(await kustomizedWith(name, [name]));
    expect(made).toEqual(await fromHelm(values));
    expect(made, "it changes something").not.toEqual(await fromHelm(baseValues));
  });

  it("makes of all components together what Helm makes of all values together", async () => {
    // It comes after what it changes: the review asks each replica.
    const last = "high-availability";
    const all = [...Object.keys(components).filter((name) => name !== last), last];
    expect(sharedByIdentity(await kustomizedWith("all", all))).toEqual(await fromHelm(valuesOf(all)));
  });

  it("restarts the pods when the configuration changes: the ConfigMap's name does", async () => {
    const name = /^fairlead-config-[a-z0-9]{10}$/;
    const namesOf = (objects: readonly InstalledObject[]): readonly string[] =>
      objects.flatMap(({ kind, metadata }) =>
        kind === "ConfigMap" && name.test(metadata.name) ? [metadata.name] : [],
      );
    const [one] = namesOf(await kustomized("kustomize/base"));
    const [two] = namesOf(await kustomizedWith("two", ["high-availability"]));
    expect([one, two]).toEqual([expect.stringMatching(name), expect.stringMatching(name)]);
    expect(one).not.toBe(two);
  });
});

describe("the plain file", () => {
  it("has what Helm makes of the same values", async () => {
    expect(sharedByIdentity(objectsIn(await readFile(join(dist, "fairlead.yaml"), "utf8")))).toEqual(
      await fromHelm(plainValues),
    );
  });
});

describe("deploy/dist", () => {
  it("is what `npm run generate` makes of the chart (else: run it)", async () => {
    const program = join(await installed("install-helm.sh"), "helm");
    const made = staticFiles((values) => helmTemplate(program, values));
    const entries = await readdir(dist, { recursive: true, withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const there = await Promise.all(
      names.map(async (name) => [relative(dist, name), await readFile(name, "utf8")] as const),
    );
    const texts: ReadonlyMap<string, string> = new Map(there);
    const all = new Set([...texts.keys(), ...Object.keys(made)]);
    expect(all.size).toBeGreaterThan(40);
    expect([...all].filter((name) => texts.get(name) !== made[name])).toEqual([]);
  });
});
