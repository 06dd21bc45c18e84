import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { InstalledObject } from "../../deploy/output/installedObject.ts";
import type { GivenValues } from "../../deploy/output/staticFiles.ts";
import { type Helm, startHelm } from "./deployHelm.ts";

let helm: Helm;

beforeAll(async () => {
  helm = await startHelm();
});

afterAll(async () => await helm?.stop());

const release = { name: "fairlead", namespace: "fairlead", apiVersions: ["monitoring.coreos.com/v1"] };
const objectsOf = (values: GivenValues): Promise<readonly InstalledObject[]> => helm.objects(values, release);
const replicasOf = (objects: readonly InstalledObject[]): readonly unknown[] =>
  objects.filter(({ kind }) => kind === "StatefulSet").map(({ spec }) => spec);

describe("an upgrade", () => {
  test("to another version of the chart alone restarts no pod", async () => {
    const before = await objectsOf({});
    const file = join(helm.chart, "Chart.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace(/^version: .*$/m, "version: 9.0.0"));
    const after = await objectsOf({});
    await writeFile(file, text);
    expect(replicasOf(after)).toHaveLength(1);
    expect(replicasOf(after)).toEqual(replicasOf(before));
    expect(after).not.toEqual(before);
  });

  test("that changes the configuration restarts them, for they read it when they start", async () => {
    expect(replicasOf(await objectsOf({ config: { interval: 15 } }))).not.toEqual(replicasOf(await objectsOf({})));
  });

  test("that changes prices does not: they are read again by themselves", async () => {
    const pricesOf = (perGpuHour: number) => ({ prices: { prices: [{ gpuModel: "L4", perGpuHour }] } });
    const [one, two] = [await objectsOf(pricesOf(1)), await objectsOf(pricesOf(2))];
    expect(replicasOf(one)).toEqual(replicasOf(two));
    expect(one).not.toEqual(two);
  });
});
