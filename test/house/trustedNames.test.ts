import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { gpuResourceOf, isSharedAmount } from "../../exporter/model/gpuResource.ts";
import { trustedNames } from "../../exporter/model/trust/trustedNames.ts";
import { gpuResources } from "../../exporter/model/wellKnown.ts";

const root = new URL("../../exporter/", import.meta.url);
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.startsWith("model/trust/"))
  .map((name) => ({ name, text: readFileSync(new URL(name, root), "utf8") }));

/** What looks like the name of a label and is none, or is only written or compared with selectors that others write. */
const others: ReadonlySet<string> = new Set([
  // Names of controllers, scheduling gates, taints, attributes, and amounts.
  "kueue.x-k8s.io/multikueue",
  "kueue.x-k8s.io/provisioning-request",
  "kueue.x-k8s.io/elastic-job",
  "node.kubernetes.io/unreachable",
  "node.kubernetes.io/not-ready",
  "resource.kubernetes.io/pciBusID",
  "gpu.nvidia.com/xid",
  "gpu.nvidia.com/gpu-lost",
  "run.ai/gpu.memory",
  // What advice writes, and what no decoder keeps.
  "serving.kserve.io/stop",
  "kubectl.kubernetes.io/last-applied-configuration",
  // Labels that differ from pod to pod: they are left out of what is compared.
  "statefulset.kubernetes.io/pod-name",
  "apps.kubernetes.io/pod-index",
  "batch.kubernetes.io/controller-uid",
  // Defaults of settings, which are in the table by the setting.
  "app.kubernetes.io/name",
  "fairlead.dev/warm-pool",
]);

const isResource = (name: string): boolean =>
  gpuResourceOf(name) !== null || isSharedAmount(name) || Object.values<string>(gpuResources).includes(name);

/** Strings of code, without its comments, that have the form of a qualified name: `domain/name`, no version, no kind. */
function qualifiedNames(text: string): readonly string[] {
  const code = text.replace(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, "");
  return [...code.matchAll(/["'`]([a-z0-9][a-z0-9.-]*\.[a-z]{2,}\/[a-z][A-Za-z0-9._-]*[A-Za-z0-9])["'`]/g)].flatMap(
    ([, name = ""]) => (/\/v\d/.test(name) ? [] : [name]),
  );
}

describe("the table of labels and annotations", () => {
  const known = new Set(trustedNames.map(({ name }) => name));

  it("has every one that is named anywhere", () => {
    const missing = files.flatMap(({ name, text }) =>
      qualifiedNames(text)
        .filter((found) => !known.has(found) && !others.has(found) && !isResource(found))
        .map((found) => `${name}: ${found}`),
    );
    expect(missing).toEqual([]);
  });

  it("is the only place that a read may take its name from: no label is asked for by a text in the code", () => {
    const asked = files.flatMap(({ name, text }) =>
      [...text.matchAll(/\b(?:labels|annotations)\??\.?\[\s*["'`]([^"'`$]+)["'`]/g)]
        .filter(([, label = ""]) => !known.has(label))
        .map(([, label]) => `${name}: ${label}`),
    );
    expect(asked).toEqual([]);
  });

  it("names a witness, or says why none is needed, and what happens else", () => {
    for (const { name, rule } of trustedNames) {
      expect(rule.otherwise, name).not.toBe("");
      // What a tenant writes needs one, unless it changes nothing of others, or a scheduler itself goes by it.
      if (rule.writer === "namespace" && rule.witness === null)
        expect(rule.otherwise, name).toMatch(
          /changes nothing of other teams|believed as (?:Kueue|Volcano|the scheduler)/,
        );
    }
  });

  it("names problems by codes that exist", () => {
    const codes = new Set(
      trustedNames.flatMap(({ rule }) => [...rule.otherwise.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code)),
    );
    expect(codes.size).toBeGreaterThan(3);
    for (const code of codes)
      expect(
        files.some(({ text }) => text.includes(`"${code}"`)),
        code,
      ).toBe(true);
  });
});
