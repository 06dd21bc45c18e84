import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { chartValues } from "../../deploy/output/helm.ts";
import { objectsIn } from "../../deploy/output/installedObject.ts";
import type { GivenValues } from "../../deploy/output/staticFiles.ts";
import { configMapReads } from "../../deploy/rights/reads.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import { parseConfig } from "../../exporter/config/load.ts";
import { asInstalled, changedConfigs } from "./deployConfigs.ts";
import { goldenOf } from "./deployGolden.ts";
import { type Helm, type Release, runProgram, startHelm, writeFiles } from "./deployHelm.ts";
import { byIdentity, configIn } from "./deployObjects.ts";
import { misplacedValues, places } from "./deployPlaces.ts";
import { hardValues } from "./deployValues.ts";
import { variants } from "./deployVariants.ts";
import { installed } from "./program.ts";

/** The chart, with a real Helm. */
let helm: Helm;

beforeAll(async () => {
  helm = await startHelm();
});

afterAll(async () => await helm?.stop());

const bare: Release = { name: "fairlead", namespace: "fairlead", apiVersions: [] };
const withOperators: Release = {
  name: "gpu-accounts-of-the-production-cluster-in-frankfurt-1",
  namespace: "monitoring",
  apiVersions: [
    "monitoring.coreos.com/v1",
    "kueue.x-k8s.io/v1beta1",
    "scheduling.run.ai/v2",
    "kai.scheduler/v1",
    "scheduling.volcano.sh/v1beta1",
    "batch.volcano.sh/v1alpha1",
    "topology.volcano.sh/v1alpha1",
    "karpenter.sh/v1",
    "jobset.x-k8s.io/v1alpha2",
  ],
};
const releases: Readonly<Record<string, Release>> = {
  "a bare cluster": bare,
  "a cluster with operators, as a release with the longest name": withOperators,
  "a cluster with kinds of like names": {
    name: "gpu",
    namespace: "gpu",
    apiVersions: ["my-kueue.x-k8s.io/v1", "kubeflow.org/v1", "monitoring.coreos.community/v1"],
  },
};

describe.each(Object.entries(variants))("the chart for %s", (name, values) => {
  it("is one in which Helm finds nothing to complain about", async () => {
    const args = ["lint", "--strict", helm.chart, "--values=-"];
    const { code, stdout, stderr } = await helm.run(args, JSON.stringify(values));
    expect(stdout + stderr).not.toMatch(/\[(WARNING|ERROR)\]/);
    expect(code).toBe(0);
  });

  it.each(Object.entries(releases))(
    "makes in %s objects with a configuration that Fairlead takes",
    async (_, release) => {
      expect(parseConfig(configIn(await helm.objects(values, release)))).toMatchObject({ ok: true });
    },
  );

  it("makes in a cluster with operators the objects that were approved", async () => {
    const text = goldenOf(await helm.objects(values, withOperators), await helm.objects({}, withOperators));
    await expect(text).toMatchFileSnapshot(`../golden/chart/${name}.yaml`);
  });
});

describe("the chart", () => {
  // `npm run test:servers -- test/servers/helmChart.test.ts --update` approves others: read what has changed.
  it.each(Object.entries(releases))("makes in %s by default the objects that were approved", async (where, release) => {
    const golden = `../golden/chart/${where.replaceAll(/[ ,]+/g, "-")}.yaml`;
    await expect(goldenOf(await helm.objects({}, release), [])).toMatchFileSnapshot(golden);
  });

  it("writes whatever is in its values where it belongs", async () => {
    const release = { ...bare, apiVersions: ["kueue.x-k8s.io/v1beta1"] };
    const seen = new Set<string>();
    const property = fc.asyncProperty(hardValues, async (values: GivenValues) => {
      const objects = await helm.objects(values, release);
      expect(misplacedValues(values, objects, seen)).toEqual([]);
      expect(parseConfig(configIn(objects))).toMatchObject({ ok: true });
    });
    await fc.assert(property, { seed: 8, numRuns: 60, endOnFailure: true });
    expect([...seen].toSorted(), "each place was looked at").toEqual(places.map(({ value }) => value).toSorted());
  });

  it("keeps within the names that Kubernetes takes, of a release with the longest name", async () => {
    const values = { replicas: 2, review: { enabled: true }, prices: { prices: [] } };
    const name = "gpu-accounts-of-the-production-cluster-in-frankfurt-1";
    const objects = await helm.objects(values, { ...bare, name });
    // A StatefulSet's pods get a label of its name, a dash and ten letters; a CronJob's Jobs its name and eleven.
    const longest: Readonly<Record<string, number>> = { Service: 63, StatefulSet: 52, CronJob: 52 };
    const names = objects.map(({ kind, metadata }) => [kind, metadata.name] as const);
    expect(names.map(([kind]) => kind)).toEqual(expect.arrayContaining(Object.keys(longest)));
    expect(names.filter(([kind, name]) => name.length > (longest[kind] ?? 253))).toEqual([]);
  });

  it("is the same when it is packed, without the values of other kinds of installations", async () => {
    const packed = await helm.run(["package", helm.chart, `--destination=${helm.folder}`]);
    expect(packed.stderr).toBe("");
    const archive = join(helm.folder, readdirSync(helm.folder).find((name) => name.endsWith(".tgz")) ?? "");
    const flags = [`--namespace=${bare.namespace}`];
    const fromArchive = await helm.run(["template", bare.name, archive, ...flags]);
    expect(fromArchive.stdout).toBe((await helm.run(["template", bare.name, helm.chart, ...flags])).stdout);
    const { stdout } = await runProgram("tar", ["-tzf", archive]);
    expect(stdout).toContain("fairlead/values.schema.json");
    expect(stdout).not.toContain("/ci/");
  });

  it("keeps the promises of its suites for helm-unittest", async () => {
    const untt = join(await installed("install-helm-unittest.sh"), "untt");
    const suites = join(import.meta.dirname, "../deploy/helmUnit");
    const names = readdirSync(suites);
    const files = names.map((name) => [`tests/${name}`, readFileSync(join(suites, name), "utf8")]);
    await writeFiles(helm.chart, Object.fromEntries(files));
    const { code, stdout, stderr } = await runProgram(untt, ["--strict", helm.chart]);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(new RegExp(`Test Suites: ${names.length} passed, ${names.length} total`));
  });

  it.each(configMapReads.map(({ path }) => path))(
    "lets a ConfigMap be read that %s.%s names, and no other",
    async (...path) => {
      const places = [{ namespace: "elsewhere", name: "settings" }, {}];
      const taken = places.map((place) => path.reduceRight<unknown>((below, step) => ({ [step]: below }), place));
      const configs = taken.filter((config) => parseConfig(stringify(config)).ok);
      expect(configs).toContain(taken[0]);
      for (const config of configs) {
        const parsed = parseConfig(stringify(config));
        const place = path.reduce<unknown>((at, step) => z.looseObject({}).parse(at)[step], parsed.ok && parsed.value);
        const { namespace, name } = z.object({ namespace: z.string(), name: z.string() }).parse(place);
        const objects = await helm.objects({ config }, bare);
        const roles = objects.filter(({ kind }) => kind === "Role");
        const rule = { apiGroups: [""], resources: ["configmaps"], resourceNames: [name], verbs: ["get"] };
        expect(roles).toMatchObject([{ metadata: { namespace }, rules: [rule] }]);
        const roleRef = { kind: "Role", name: roles[0]?.metadata.name };
        const bindings = objects.filter(({ kind }) => kind === "RoleBinding");
        expect(bindings).toMatchObject([
          { metadata: { namespace }, roleRef, subjects: [{ name: "fairlead", namespace: "fairlead" }] },
        ]);
      }
    },
  );

  it("is refused with the place of what is wrong", async () => {
    const refused: readonly (readonly [values: unknown, said: RegExp])[] = [
      [{ replcas: 2 }, /replcas/],
      [{ replicas: "2" }, /at '\/replicas'.*got string/s],
      [{ replicas: 0 }, /at '\/replicas'/],
      [{ image: { repositry: "x" } }, /at '\/image'.*repositry/s],
      [{ config: { intervall: 15 } }, /at '\/config'.*intervall/s],
      [{ config: { dcgm: { prometheus: { nodeLabel: "__x" } } } }, /at '\/config\/dcgm\/prometheus/],
      [{ config: { replicas: 2 } }, /at '\/config'.*replicas/s],
      [{ config: { ledger: { path: "/elsewhere" } } }, /at '\/config\/ledger'.*path/s],
      [{ fullnameOverride: "GPU" }, /at '\/fullnameOverride'/],
      [{ links: { grafana: "grafana.example.org: 80" } }, /at '\/links\/grafana'/],
    ];
    for (const [values, said] of refused) {
      const { code, stderr } = await helm.template(values, bare);
      expect(code, JSON.stringify(values)).not.toBe(0);
      expect(stderr).toMatch(said);
      expect(stderr, "by the schema, before any template").toContain(
        "values don't meet the specifications of the schema",
      );
    }
  });

  it("takes an empty place in its values for nothing, or refuses it", async () => {
    const quiet = { dashboards: { enabled: false }, prometheus: { rules: { enabled: false } } };
    const asByDefault = byIdentity(await helm.objects(quiet, bare));
    const refused: string[] = [];
    for (const [name, preset] of Object.entries(z.looseObject({}).parse(parse(chartValues())))) {
      if (name in quiet || removable.includes(name)) continue;
      const { code, stdout, stderr } = await helm.template({ ...quiet, [name]: null }, bare);
      if (code === 0) expect(byIdentity(objectsIn(stdout)), name).toEqual(asByDefault);
      else expect(stderr, `${name}, by default ${JSON.stringify(preset)}`).toContain(`missing property '${name}'`);
      if (code !== 0) refused.push(name);
    }
    expect(refused).toContain("replicas");
    expect(refused).not.toContain("podLabels");
    expect(refused).not.toContain("config");
  });
});

/** Maps that are in a manifest by default, and may be taken out of it: `resources: null`. */
const removable = ["resources", "securityContext", "containerSecurityContext"];

/** Configurations that Fairlead refuses and the chart does not, with the reason. */
const letThrough: Readonly<Record<string, string>> = {
  "missing-files": "whether a file is there is known in the container only",
  "duplicate-key": "Helm takes the last of two",
  "folder-as-file": "whether it is a file is known in the container only",
};

describe("a configuration in values", () => {
  const bad = join(import.meta.dirname, "../config/bad");

  it.each(readdirSync(bad))(
    "such as %s is refused when the chart is installed, as far as that can be known",
    async (name) => {
      const lines = readFileSync(join(bad, name), "latin1").trimEnd().split("\n");
      const file = join(helm.folder, name);
      writeFileSync(file, ["config:", ...lines.map((line) => `  ${line}`)].join("\n"), "latin1");
      const { code, stderr } = await helm.run(["template", "fairlead", helm.chart, `--values=${file}`]);
      if (Object.hasOwn(letThrough, name.replace(/\.yaml$/, ""))) expect(code, stderr).toBe(0);
      else expect(code, stderr).not.toBe(0);
    },
  );

  it("is refused if Fairlead would refuse it, and taken if it would take it", async () => {
    const answers = new Set<boolean>();
    await fc.assert(
      fc.asyncProperty(changedConfigs, async (config) => {
        const { ok } = parseConfig(stringify(asInstalled(config)));
        answers.add(ok);
        const { code, stderr } = await helm.template({ config }, bare);
        expect(code === 0, stderr).toBe(ok);
      }),
      { seed: 21, numRuns: 60, endOnFailure: true },
    );
    expect(answers).toEqual(new Set([true, false]));
  });

  it("that Fairlead takes is taken: those of the examples, and all defaults written out", async () => {
    const examples = readdirSync(examplesFolder, { recursive: true, encoding: "utf8" })
      .filter((name) => /(^|\/)(fairlead|central)\.yaml$/.test(name))
      .map((name): unknown => parse(readFileSync(join(examplesFolder, name), "utf8")));
    const configs = [defaultConfig, ...examples].filter((config) => parseConfig(stringify(config)).ok).map(withoutOwn);
    expect(configs.length).toBeGreaterThan(1);
    for (const config of configs) {
      const { code, stderr } = await helm.template({ config }, bare);
      expect(code, stderr).toBe(0);
    }
  });
});

/** A configuration without what the chart sets by itself. */
function withoutOwn(config: unknown): unknown {
  const { replicas: _, ledger, ...others } = z.looseObject({ ledger: z.looseObject({}).optional() }).parse(config);
  const { path: __, ...keeps } = ledger ?? {};
  return ledger === undefined ? others : { ...others, ledger: keeps };
}

const examplesFolder = join(import.meta.dirname, "../../deploy/examples");
