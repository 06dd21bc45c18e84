import { createRandomStream } from "../../../simulator/random.ts";
import { gpusPerNode, nodeName, nodesPerRack, racks } from "./rackObjects.ts";

/** Where single-GPU pods run: one entry for each pod, the name of its node. */
export type Scatter = readonly string[];

/**
 * A scatter of single-GPU pods over the racks. Some racks have few nodes with a pod and some have many, and more of
 * them do in a scatter with a higher `spread` (0 to 1); most of these nodes have one pod, few have more.
 */
export function scatterOf(seed: number, spread: number): Scatter {
  const random = createRandomStream(seed);
  const scattered: string[] = [];
  for (let rack = 0; rack < racks; rack += 1) {
    const nodes = [...Array(nodesPerRack).keys()];
    let taken = Math.round(nodesPerRack * random.next() ** (2 * (1 - spread) + 0.5));
    for (; taken > 0; taken -= 1) {
      const [node = 0] = nodes.splice(random.between(0, nodes.length - 1), 1);
      const pods = random.next() < 0.8 ? 1 : random.between(1, gpusPerNode);
      scattered.push(...Array<string>(pods).fill(nodeName(rack, node)));
    }
  }
  return scattered;
}

/** By rack: how many of its nodes have so many GPUs free for each pod of a gang, counted pod by pod. */
export function podsThatFit(scatter: Scatter, gpusPerPod: number): readonly number[] {
  const taken = new Map<string, number>();
  for (const node of scatter) taken.set(node, (taken.get(node) ?? 0) + 1);
  return Array.from({ length: racks }, (_, rack) => {
    let fit = 0;
    for (let node = 0; node < nodesPerRack; node += 1) {
      fit += Math.floor((gpusPerNode - (taken.get(nodeName(rack, node)) ?? 0)) / gpusPerPod);
    }
    return fit;
  });
}
