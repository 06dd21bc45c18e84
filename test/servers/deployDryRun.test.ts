import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type InstalledObject, objectsIn } from "../../deploy/output/installedObject.ts";
import { components, overlays } from "../../deploy/output/kustomize.ts";
import { type DeployCluster, startDeployCluster } from "./deployCluster.ts";
import { type Helm, runProgram, startHelm, writeFiles } from "./deployHelm.ts";
import { podsOf } from "./deployPods.ts";
import { variants } from "./deployVariants.ts";
import { installed } from "./program.ts";

/** Everything with which Fairlead is installed, asked of a real API server that knows the Prometheus operator's kinds. */
let helm: Helm;
let cluster: DeployCluster;
let kubectl: string;

const dist = fileURLToPath(new URL("../../deploy/dist", import.meta.url));
const release = { name: "fairlead", namespace: "fairlead", apiVersions: ["monitoring.coreos.com/v1"] };
const longest = { ...release, name: "gpu-accounts-of-the-production-cluster-in-frankfurt-1" };

beforeAll(async () => {
  [helm, cluster] = await Promise.all([startHelm(), startDeployCluster()]);
  kubectl = join(await installed("install-kube-servers.sh"), "kubectl");
  await cp(dist, helm.folder, { recursive: true });
}, 300_000);

afterAll(async () => {
  await cluster?.stop();
  await helm?.stop();
});

/** The API server takes the objects and the pods that are made of them, and warns of nothing. */
async function expectTaken(objects: readonly InstalledObject[]): Promise<void> {
  const { code, stdout, stderr } = await cluster.dryRun([...objects, ...podsOf(objects)]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout.trim().split("\n")).toHaveLength(objects.length + podsOf(objects).length);
}

/** More, and `kubectl apply` without --server-side refuses an object: it keeps it whole in an annotation. */
const annotationLimit = 262_144;

describe("the API server takes", () => {
  it.each(Object.entries(variants))("the chart for %s", async (_, values) => {
    const { stdout, stderr } = await helm.template(values, release);
    expect(stderr).toBe("");
    await expectTaken(objectsIn(stdout));
  });

  it("the chart in a release with the longest name", async () => {
    const values = { replicas: 2, review: { enabled: true }, prices: { prices: [] }, config: queuesOfVolcano };
    await expectTaken(objectsIn((await helm.template(values, longest)).stdout));
  });

  it.each(["base", ...Object.keys(overlays).map((name) => `overlays/${name}`)])("kustomize's %s", async (name) => {
    const { stdout, stderr } = await runProgram(kubectl, ["kustomize", join(helm.folder, "kustomize", name)]);
    expect(stderr).toBe("");
    await expectTaken(objectsIn(stdout));
  });

  it("kustomize's base with all components", async () => {
    const kustomization = {
      resources: ["../kustomize/base"],
      components: Object.keys(components).map((name) => `../kustomize/components/${name}`),
    };
    await writeFiles(helm.folder, { "all/kustomization.yaml": JSON.stringify(kustomization) });
    const { stdout, stderr } = await runProgram(kubectl, ["kustomize", join(helm.folder, "all")]);
    expect(stderr).toBe("");
    await expectTaken(objectsIn(stdout));
  });

  it("the plain file, each object small enough for kubectl apply", async () => {
    const objects = objectsIn(await readFile(join(dist, "fairlead.yaml"), "utf8"));
    await expectTaken(objects);
    const everything = [...objects, ...objectsIn((await helm.template(variants["big-cluster"], release)).stdout)];
    for (const object of everything) {
      expect(JSON.stringify(object).length, object.metadata.name).toBeLessThan(annotationLimit);
    }
  });
});

const queuesOfVolcano = {
  queues: { volcano: { configMap: { namespace: "volcano-system", name: "volcano-scheduler-configmap" } } },
  clusterAutoscaler: { statusConfigMap: {} },
};

describe("the API server refuses, so that what it takes means something:", () => {
  const pod = (securityContext: object) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "one", namespace: "fairlead" },
    spec: { containers: [{ name: "one", image: "one", securityContext }] },
  });

  it("a pod with privileges", async () => {
    const { code, stderr } = await cluster.dryRun([pod({ privileged: true })]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("violates PodSecurity");
  });

  it("an object with a field that is misspelt", async () => {
    const { code, stderr } = await cluster.dryRun([pod({ runAsNonRoott: true })]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("runAsNonRoott");
  });

  it("a pod of the chart that may run as root", async () => {
    const { stdout } = await helm.template({ securityContext: { runAsNonRoot: null, runAsUser: 0 } }, release);
    const { stderr } = await cluster.dryRun(podsOf(objectsIn(stdout)));
    expect(stderr).toContain("runAsNonRoot != true");
  });
});

const releaseSecret = z.looseObject({ data: z.looseObject({ release: z.string() }) });
/** The largest Secret that Kubernetes keeps. A release takes about 260 kB of it, most of that for dashboards and alerts. */
const secretLimit = 1024 * 1024;

describe("Helm itself", () => {
  async function helmDoes(args: readonly string[], values: unknown = {}): Promise<string> {
    const { code, stdout, stderr } = await helm.run(
      [...args, "--namespace=fairlead", `--kubeconfig=${cluster.kubeconfig}`],
      JSON.stringify(values),
    );
    expect(code, stderr).toBe(0);
    return stdout;
  }

  async function releaseBytes(revision: number): Promise<number> {
    const path = `/api/v1/namespaces/fairlead/secrets/sh.helm.release.v1.fairlead.v${revision}`;
    const { data } = releaseSecret.parse(await cluster.admin.send("GET", path));
    return Buffer.from(data.release, "base64").length;
  }

  it("installs, upgrades and removes the chart; what it keeps of a release is far from too large for a Secret", async () => {
    const said = await helmDoes(["install", "fairlead", helm.chart, "--values=-"]);
    expect(said).toContain("is installed as fairlead in fairlead");
    expect(said).not.toContain("no Prometheus Operator");
    expect(await releaseBytes(1)).toBeLessThan(secretLimit / 2);
    const monitors = "/apis/monitoring.coreos.com/v1/namespaces/fairlead/servicemonitors";
    expect(await cluster.admin.names(monitors)).toEqual(["fairlead"]);

    const { replicas: _, persistence: __, ...big } = variants["big-cluster"] ?? {};
    await helmDoes(["upgrade", "fairlead", helm.chart, "--values=-"], {
      ...big,
      replicas: 2,
      review: { enabled: true },
    });
    expect(await releaseBytes(2)).toBeLessThan(secretLimit / 2);
    const cronJobs = "/apis/batch/v1/namespaces/fairlead/cronjobs";
    expect(await cluster.admin.names(cronJobs)).toEqual(["fairlead-review"]);

    await helmDoes(["uninstall", "fairlead"]);
    expect(await cluster.admin.names(monitors)).toEqual([]);
    expect(await cluster.admin.names(cronJobs)).toEqual([]);
  });
});
