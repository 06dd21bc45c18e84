import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readVersion } from "../../cli/version.ts";
import { deployFiles } from "../../deploy/output/deployFiles.ts";
import type { InstalledObject } from "../../deploy/output/installation.ts";
import { baseValues, components, namespaceObject, overlays, staticRelease } from "../../deploy/output/kustomize.ts";
import { plainValues } from "../../deploy/output/plainYaml.ts";
import { coalesced } from "../../deploy/values/coalesced.ts";
import { type Helm, runProgram, startHelm, writeFiles } from "./deployHelm.ts";
import { objectsIn, sharedByIdentity } from "./deployObjects.ts";
import { installed } from "./program.ts";

/** What does not need Helm: kustomize's base, components and overlays, and the plain file, beside what a real Helm makes. */
let helm: Helm;
let kubectl: string;

const files = deployFiles(readVersion());

beforeAll(async () => {
  helm = await startHelm();
  kubectl = join(await installed("install-kubectl.sh"), "kubectl");
  await writeFiles(helm.folder, files);
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
  const { code, stdout, stderr } = await helm.template(values, { ...staticRelease, apiVersions: [] });
  expect(code, stderr).toBe(0);
  return sharedByIdentity([namespaceObject, ...objectsIn(stdout)]);
}

const valuesOf = (added: readonly string[]): unknown =>
  Object.entries(components)
    .filter(([name]) => added.includes(name))
    .reduce<unknown>((values, [, given]) => withSwitches(values, given), baseValues);

/** Components only switch things on: what one of them leaves off must not undo what another has switched on. */
function withSwitches(values: unknown, given: unknown): unknown {
  const on: unknown = JSON.parse(JSON.stringify(given), (_, part: unknown) => (part === false ? undefined : part));
  return coalesced(values, on);
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
    expect(sharedByIdentity(objectsIn(files["fairlead.yaml"] ?? ""))).toEqual(await fromHelm(plainValues));
  });
});
