import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installed } from "../servers/program.ts";
import { olderFairleadImage, writeFairleadImage, writeNodeImages } from "./images.ts";
import { RealNode } from "./realNode.ts";

/**
 * The last commit whose ledgers have version 7: its chart and image are installed before those of today. A later one with an
 * older ledger than today's may take its place.
 */
export const olderCommit = "1d752e3bb5ba53f6dc7d2746d3afa9d02affdcfd";

const manifests = fileURLToPath(new URL("../tools/node/manifests", import.meta.url));

/** A node with DNS, a storage class, four fake GPUs and all images, and the archive of the older image, if there is one. */
export interface PreparedNode {
  readonly node: RealNode;
  readonly hasOlderImage: boolean;
}

/**
 * Starts it in an empty folder. What it says goes to `say`, with the seconds that it took; `begun` gets the node before it
 * starts, so that it can be ended at any time.
 */
export async function prepareNode(
  folder: string,
  say: (line: string) => void,
  begun: (node: RealNode) => void,
): Promise<PreparedNode> {
  const began = performance.now();
  const note = (what: string): void => say(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${what}`);
  const [kube, programs, helm, tools, operators] = await Promise.all([
    installed("install-kube-servers.sh"),
    installed("install-node.sh"),
    installed("install-helm.sh"),
    installed("install-dockerfile-lint.sh"),
    installed("install-operator-crds.sh"),
  ]);
  note("the programs are there");
  const node = new RealNode({ folder, kube, programs, helm, owner: process.pid });
  begun(node);
  const archives = join(folder, "images");
  mkdirSync(archives, { recursive: true });
  const fairlead = join(archives, "fairlead.tar");
  const own = writeFairleadImage(tools, fairlead);
  own.catch(() => undefined); // awaited below
  await writeNodeImages(programs, archives).then(async (images) => {
    note("the node's own images are made");
    await node.start();
    note("the node is ready");
    await node.load(images);
  });
  await node.run(`kubectl label node --all example.org/pool=infrastructure
    kubectl apply --filename ${manifests}
    kubectl create --filename ${join(operators, "prometheus-operator")}`);
  await own;
  note("Fairlead's image is made");
  const older = await olderFairleadImage(tools, olderCommit);
  await node.load([fairlead, ...(older === null ? [] : [older])]);
  note("all images are loaded");
  await node.run(
    `kubectl --namespace kube-system rollout status deployment/coredns --timeout=120s
     kubectl --namespace local-path-storage rollout status deployment/local-path-provisioner --timeout=120s
     kubectl --namespace gpu-operator rollout status daemonset/nvidia-dcgm-exporter --timeout=120s
     kubectl wait --for=jsonpath='{.status.allocatable.nvidia\\.com/gpu}'=4 node --all --timeout=120s`,
  );
  note("DNS, volumes and GPUs are there");
  return { node, hasOlderImage: older !== null };
}
