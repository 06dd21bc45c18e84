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
const held = fileURLToPath(new URL("../tools/node/held.yaml", import.meta.url));

/** Nodes with DNS, a storage class, four fake GPUs each, and all images; pods hold three GPUs of the first one. */
export interface PreparedNodes {
  readonly nodes: readonly RealNode[];
  /** Whether the image of the older commit is among them. */
  readonly hasOlderImage: boolean;
}

/**
 * Starts so many in an empty folder. What it says goes to `say`, with the seconds that it took; `begun` gets the nodes
 * before they start, so that they can be ended at any time.
 */
export async function prepareNodes(
  folder: string,
  count: number,
  say: (line: string) => void,
  begun: (nodes: readonly RealNode[]) => void,
): Promise<PreparedNodes> {
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
  const nodes = Array.from(
    { length: count },
    (_, i) => new RealNode({ folder: join(folder, `node-${i}`), kube, programs, helm, owner: process.pid }),
  );
  begun(nodes);
  const archives = join(folder, "images");
  mkdirSync(archives, { recursive: true });
  const fairlead = join(archives, "fairlead.tar");
  const own = writeFairleadImage(tools, fairlead);
  own.catch(() => undefined); // awaited below
  const images = await writeNodeImages(programs, archives);
  await Promise.all(nodes.map(async (node) => await furnish(node, images, operators)));
  note("the nodes are ready");
  // What goes on in the nodes now goes on beside the making of the image.
  const isFurnished = Promise.all(
    nodes.map(async (node, i) => await node.run(i === 0 ? `${furnished}\n${gpusAreHeld}` : furnished)),
  );
  isFurnished.catch(() => undefined); // awaited below
  await own;
  note("Fairlead's image is made");
  const older = await olderFairleadImage(tools, olderCommit);
  await Promise.all(nodes.map(async (node) => await node.load([fairlead, ...(older === null ? [] : [older])])));
  await isFurnished;
  note("images, DNS, volumes and GPUs are there");
  return { nodes, hasOlderImage: older !== null };
}

async function furnish(node: RealNode, images: readonly string[], operators: string): Promise<void> {
  await node.start();
  await node.load(images);
  await node.run(`kubectl label node --all example.org/pool=infrastructure
    kubectl apply --filename ${manifests}
    kubectl create --filename ${join(operators, "prometheus-operator")}`);
}

/** Waits until what `furnish` applied is at work. */
const furnished = `
  kubectl --namespace kube-system rollout status deployment/coredns --timeout=120s
  kubectl --namespace local-path-storage rollout status deployment/local-path-provisioner --timeout=120s
  kubectl --namespace gpu-operator rollout status daemonset/nvidia-dcgm-exporter --timeout=120s
  kubectl wait --for=jsonpath='{.status.allocatable.nvidia\\.com/gpu}'=4 node --all --timeout=120s`;

const gpusAreHeld = `
  kubectl apply --filename ${held}
  kubectl --namespace moonshot wait --for=condition=Ready pod --all --timeout=120s`;
