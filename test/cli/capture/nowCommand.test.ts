import { writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { fairlead } from "../adviseAgainst.ts";
import { type CapturedCluster, startCluster } from "./capturedCluster.ts";

let cluster: CapturedCluster;
beforeAll(async () => {
  cluster = await startCluster();
});

const now = async (...args: readonly string[]) => await fairlead("now", "--kubeconfig", cluster.kubeconfig, ...args);

async function problemsOf(...args: readonly string[]) {
  const { out } = await now("-o", "json", ...args);
  return documentSchema.parse(JSON.parse(out)).problems;
}

describe("fairlead now", () => {
  it("prints the table of inspect from a kubeconfig alone, and its progress apart", async () => {
    const { code, out, err } = await now();
    expect(code).toBe(0);
    expect(out).toMatch(/^Fairlead {2}cluster default {3}24 nodes {3}176 GPUs/);
    expect(out).toContain("WHO HOLDS WHAT");
    expect(out).toContain("fairlead explain --dump=DIR queue search");
    const lines = err.trimEnd().split("\n");
    expect(lines[0]).toBe(`fairlead: asking ${cluster.simulator.apiUrl}`);
    expect(lines.at(-1)).toBe("To look closer, keep a sample for these commands: fairlead capture DIR");
  });

  it("takes the context that is named, or KUBECONFIG's current one", async () => {
    const text = cluster.simulator.kubeconfig();
    const file = path.join(cluster.folder, "two");
    writeFileSync(
      file,
      text
        .replace("contexts:\n", "contexts:\n  - { name: nowhere, context: { cluster: nowhere, user: simulator } }\n")
        .replace("clusters:\n", "clusters:\n  - { name: nowhere, cluster: { server: http://127.0.0.1:9 } }\n")
        .replace("current-context: simulator", "current-context: nowhere"),
    );
    const wrong = await fairlead("now", "--kubeconfig", file);
    expect(wrong).toMatchObject({ code: 1, out: "" });
    expect(wrong.err).toMatch(/The Kubernetes API cannot be read: .*\nNext step: Check that kubectl get nodes works/);
    expect((await fairlead("now", "--kubeconfig", file, "--context", "simulator")).code).toBe(0);
    vi.stubEnv("KUBECONFIG", file);
    try {
      expect((await fairlead("now", "--context", "simulator")).code).toBe(0);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it.each([
    [["--kubeconfig", "/does/not/exist"], 1, "Credentials for the Kubernetes API cannot be used", "--kubeconfig FILE"],
    [["--context", "none"], 1, "Credentials for the Kubernetes API cannot be used", "kubectl config get-contexts"],
    [["--deadline", "soon"], 2, "whole number of seconds", ""],
  ])("%j: says what to do", async (args, code, error, nextStep) => {
    const said = await now(...args);
    expect(said).toMatchObject({ code, out: "" });
    expect(said.err).toContain(error);
    expect(said.err).toContain(nextStep);
  });

  it("says which source is missing, and what to ask for", async () => {
    const forbidden = cluster.simulator.fault({ kind: "api-forbidden", resource: "pods/proxy" });
    const proxies = await problemsOf();
    forbidden();
    const refused = proxies.filter(({ code }) => code === "pod-proxy-forbidden");
    expect(refused).toHaveLength(24);
    expect(refused[0]).toMatchObject({ severity: "error", nextStep: expect.stringContaining("pods/proxy") });
    const noPods = cluster.simulator.fault({ kind: "api-forbidden", resource: "pods" });
    const pods = await problemsOf();
    noPods();
    expect(pods).toContainEqual(expect.objectContaining({ code: "forbidden", subject: "pods" }));
  });

  it("finds no exporter where none is looked for, and names where some seem to be", async () => {
    const file = path.join(cluster.folder, "elsewhere.yaml");
    writeFileSync(file, "dcgm: { discovery: [{ namespaces: [gpus], matchLabels: { app: dcgm } }] }\n");
    const found = (await problemsOf("--config.file", file)).find(({ code }) => code === "no-exporters");
    expect(found?.message).toContain("was found in gpus; pods in gpu-operator look like one");
    expect(found?.nextStep).toContain("dcgm.discovery");
  });

  it("takes no page that is too large, and waits for none that does not come", async () => {
    const file = path.join(cluster.folder, "small.yaml");
    writeFileSync(file, "dcgm: { maxPageBytes: 1024 }\n");
    const found = (await problemsOf("--config.file", file)).filter(({ code }) => code === "page-not-read");
    // One exporter's page is empty.
    expect(found).toHaveLength(23);
    expect(found[0]?.message).toContain("larger than 1024 bytes");
    const off = cluster.simulator.fault({ kind: "api-slow", delayMs: 60_000 });
    const late = await now("--deadline", "1");
    off();
    expect(late).toMatchObject({ code: 1, out: "" });
    expect(late.err).toContain("it did not come within the 1 s of --deadline");
  });

  it("says that nothing may be read", async () => {
    const kinds = ["nodes", "pods", "namespaces", "priorityclasses", "poddisruptionbudgets", "resourcequotas"];
    const more = ["limitranges", "persistentvolumeclaims", "persistentvolumes", "replicasets", "deployments", "jobs"];
    const off = [...kinds, ...more].map((resource) => cluster.simulator.fault({ kind: "api-forbidden", resource }));
    const { code, err } = await now();
    for (const end of off) end();
    // Other kinds are there, but no node with a GPU.
    expect(code).toBe(1);
    expect(err).toContain("no GPU was found");
  });
});
