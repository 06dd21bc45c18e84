// This node is for one thing at a time: its tests are those of one file, and these go first.
import "./quickStart.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { until } from "../servers/kubernetesAdmin.ts";
import { allocatedByFairlead, allocatedByKubelet, ComparedCycles, setHealth } from "./allocatedGpus.ts";
import { FairleadPod, sumOf } from "./fairlead.ts";
import { givenNode } from "./givenNode.ts";
import { gpuPod, podWith } from "./gpuPods.ts";
import { killAtRandom } from "./killAtRandom.ts";

// These take all GPUs, and end the kubelet and the node: no other test is there.
const node = givenNode("alone");
const pod = new FairleadPod(node, "gpus", "gpus-fairlead-0");
const work = "kubectl --namespace gpu-work";
let compared: ComparedCycles;

const counts = (held: Readonly<Record<string, string>>): Readonly<Record<string, number>> => {
  const found: Record<string, number> = {};
  for (const by of Object.values(held))
    found[by.replace("gpu-work/", "")] = (found[by.replace("gpu-work/", "")] ?? 0) + 1;
  return found;
};

/** Waits until kubelet and Fairlead agree on these numbers of GPUs by pod. */
async function settled(wanted: Readonly<Record<string, number>>): Promise<void> {
  const text = JSON.stringify(Object.entries(wanted).toSorted());
  await compared.settled((held) => JSON.stringify(Object.entries(counts(held)).toSorted()) === text);
}

const gpusOf = async (...labels: readonly string[]): Promise<number> =>
  sumOf(await pod.metrics(), "fairlead_gpus", ...labels);

async function driver(name: "device-plugin" | "dra"): Promise<void> {
  await node.run(`kubectl --namespace gpu-operator set env daemonset/nvidia-dcgm-exporter GPU_DRIVER=${name}
    kubectl --namespace gpu-operator rollout status daemonset/nvidia-dcgm-exporter --timeout=120s`);
}

beforeAll(async () => {
  await node.run(`kubectl create namespace gpu-work
    helm install gpus deploy/helm/fairlead --namespace gpus --create-namespace --wait --timeout 3m --set config.interval=1`);
  compared = new ComparedCycles(node, pod);
});

describe("GPUs of a device plugin", () => {
  it("are held by the pods that the kubelet gave them to, while pods come and go", async () => {
    await node.apply(gpuPod("gpu-work", "first", 1));
    await settled({ first: 1 });
    await node.apply(gpuPod("gpu-work", "second", 2));
    await settled({ first: 1, second: 2 });
    await node.run(`${work} delete pod first`);
    await settled({ second: 2 });
    await node.apply(gpuPod("gpu-work", "third", 1));
    await settled({ second: 2, third: 1 });
    expect(await gpusOf()).toBe(4);
  });

  it("stay where they are when the device plugin starts anew", async () => {
    const before = await allocatedByKubelet(node);
    await node.run(`kubectl --namespace gpu-operator rollout restart daemonset/nvidia-dcgm-exporter
      kubectl --namespace gpu-operator rollout status daemonset/nvidia-dcgm-exporter --timeout=120s`);
    await settled({ second: 2, third: 1 });
    expect(await allocatedByKubelet(node)).toEqual(before);
    await until("no GPU is unavailable", async () => (await gpusOf('state="unavailable"')) === 0);
    expect(await gpusOf()).toBe(4);
  });

  it("stay where they are when the kubelet starts anew", async () => {
    const before = await allocatedByKubelet(node);
    await node.restart("kubelet");
    await node.run("kubectl wait --for=jsonpath='{.status.allocatable.nvidia\\.com/gpu}'=4 node --all --timeout=120s");
    await settled({ second: 2, third: 1 });
    expect(await allocatedByKubelet(node)).toEqual(before);
  });

  it("are unavailable when they are ill, and still held where the pod's status says that one of its devices is ill", async () => {
    const [ill = ""] = Object.entries(await allocatedByKubelet(node)).find(([, by]) => by === "gpu-work/third") ?? [];
    const gpu = `gpu-${Number(ill.slice(-12))}`;
    await setHealth(node, gpu, "unhealthy");
    await until("the pod's status says that its device is ill", async () =>
      (await node.get("/api/v1/namespaces/gpu-work/pods/third")).includes('"health":"Unhealthy"'),
    );
    await until("one GPU is unavailable", async () => (await gpusOf('state="unavailable"')) === 1);
    await settled({ second: 2, third: 1 });
    expect(await gpusOf()).toBe(4);
    await setHealth(node, gpu, "healthy");
    await until("no GPU is unavailable", async () => (await gpusOf('state="unavailable"')) === 0);
    await node.run(`${work} delete pod second third`);
    await settled({});
  });
});

describe("GPUs of dynamic resource allocation", () => {
  it("are not counted twice on a node that had a device plugin before", async () => {
    await driver("dra");
    await until("there are ResourceSlices", async () =>
      (await node.get("/apis/resource.k8s.io/v1/resourceslices")).includes("gpu.nvidia.com"),
    );
    const { cycles } = compared;
    await until("cycles have seen them", () => compared.cycles >= cycles + 3);
    expect(await gpusOf()).toBe(4);
    expect((await allocatedByFairlead(pod)).gpus).toBe(4);
  });

  it("are held by the pods of their claims", async () => {
    const template = {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaimTemplate",
      metadata: { name: "two", namespace: "gpu-work" },
      spec: {
        spec: { devices: { requests: [{ name: "gpus", exactly: { deviceClassName: "gpu.nvidia.com", count: 2 } }] } },
      },
    };
    await node.apply(JSON.stringify(template));
    const more = { resourceClaims: [{ name: "gpus", resourceClaimTemplateName: "two" }] };
    await node.apply(podWith("gpu-work", "claims", { claims: [{ name: "gpus" }] }, more));
    await settled({ claims: 2 });
    expect(await gpusOf()).toBe(4);
  });

  it("are held by pods that ask for the extended resource of their class", async () => {
    await node.apply(gpuPod("gpu-work", "extended", 1));
    await settled({ claims: 2, extended: 1 });
    expect(await gpusOf()).toBe(4);
    await node.run(`${work} delete pod claims`);
    await settled({ extended: 1 });
  });

  it("stay where they are when driver and kubelet start anew", async () => {
    await node.restart("kubelet");
    await driver("dra");
    await settled({ extended: 1 });
    await node.run(`${work} delete pod extended`);
    await settled({});
    expect(await gpusOf()).toBe(4);
  });
});

it("each cycle said of each pod how many GPUs the kubelet had given it", async () => {
  expect(compared.cycles).toBeGreaterThan(20);
  expect(await compared.end()).toEqual([]);
});

describe("container, pod and node, killed at random moments", () => {
  // `npm run test:node -- kills` does it as often as one likes.
  it("leave a ledger that opens and is sound, and that lacks at most one cycle", async () => {
    await node.run("helm uninstall gpus --namespace gpus --wait");
    const say = (line: string): void => void process.stderr.write(`kill ${line}\n`);
    const kills = await killAtRandom(node, { count: 3, seed: 20_261_124, say });
    expect(kills.map(({ target }) => target)).toEqual(["container", "pod", "node"]);
  });
});
