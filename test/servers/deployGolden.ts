import { readFileSync } from "node:fs";
import { createPatch } from "rfc6902";
import { z } from "zod";
import { type InstalledObject, objectsIn } from "../../deploy/output/installedObject.ts";
import { yamlText } from "../../deploy/output/yamlText.ts";
import { byIdentity } from "./deployObjects.ts";

/**
 * Objects as a text that people can approve: those that other objects do not have, what leads from these to those that both
 * have (JSON patches), and which of the others are not there. Without others, all of them. Of files that the chart brings
 * (dashboards and rules) it says how the objects differ from them.
 */
export function goldenOf(objects: readonly InstalledObject[], others: readonly InstalledObject[]): string {
  const [all, before] = [objects, others].map((some) => byIdentity(some.map(withoutFiles)));
  const removed = Object.keys(before ?? {}).filter((name) => !Object.hasOwn(all ?? {}, name));
  const [added, changed]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}];
  for (const [name, object] of Object.entries(all ?? {})) {
    if (before === undefined || !Object.hasOwn(before, name)) added[name] = object;
    else if (createPatch(before[name], object).length > 0) changed[name] = createPatch(before[name], object);
  }
  return yamlText({ added, changed, removed }, null);
}

const textOf = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");
const ruleSchema = z.looseObject({
  kind: z.literal("PrometheusRule"),
  spec: z.object({ groups: z.array(z.unknown()) }),
});
const dashboardSchema = z.looseObject({
  kind: z.literal("ConfigMap"),
  data: z.record(z.templateLiteral(["fairlead-", z.string(), ".json"]), z.string()),
});

const shippedRules = ruleSchema.parse(
  objectsIn(textOf("dist/kustomize/components/prometheus-operator/prometheusrule-fairlead.yaml"))[0],
);

function withoutFiles(object: InstalledObject): InstalledObject {
  const rule = ruleSchema.safeParse(object).data;
  if (rule !== undefined) {
    const groups = createPatch(shippedRules.spec.groups, rule.spec.groups);
    return { ...object, spec: { "changes of the shipped rules": groups } };
  }
  const dashboard = dashboardSchema.safeParse(object).data;
  if (dashboard === undefined) return object;
  const texts = Object.entries(dashboard.data).map(([name, text]) => {
    const shipped = textOf(`helm/fairlead/files/dashboards/${name}`);
    return [name, JSON.stringify(createPatch(JSON.parse(shipped), JSON.parse(text)))];
  });
  return { ...object, data: { "changes of the shipped dashboard": Object.fromEntries(texts) } };
}
