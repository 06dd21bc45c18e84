import { FlowNetwork } from "../../kernel/maxFlow.ts";
import type { PlacedGrant } from "./unitNetwork.ts";
import type { SharedUnit } from "./units.ts";

/** An amount that is given to a leaf. */
export interface Given {
  /** Index into `SharedUnit.nodes`. */
  readonly node: number;
  /** Where it goes, as an index into `SharedUnit.classes`; `null`: to any of `classes`, which cannot be distinguished. */
  readonly nodeClass: number | null;
  readonly classes: readonly number[];
  /** Physical GPUs. */
  readonly gpus: number;
}

/**
 * Distributes what was given in domains whose classes were not distinguished: each amount goes to the classes to which it may
 * go, as much to each as it can carry besides everything else.
 */
export function distinguishClasses(
  { classes }: SharedUnit,
  own: readonly PlacedGrant[],
  given: readonly Given[],
): readonly PlacedGrant[] {
  const found: PlacedGrant[] = [];
  const left = classes.map(({ capacity }) => capacity);
  const take = (grant: PlacedGrant): void => {
    left[grant.nodeClass] = (left[grant.nodeClass] ?? 0) - grant.gpus;
  };
  own.forEach(take);
  for (const { node, nodeClass, gpus } of given)
    if (nodeClass !== null) {
      found.push({ node, nodeClass, gpus });
      take({ node, nodeClass, gpus });
    }
  const open = given.filter(({ nodeClass }) => nodeClass === null);
  if (open.length === 0) return found;
  const network = new FlowNetwork();
  const [source, sink] = [network.addNode(), network.addNode()];
  const nodesOf = left.map((gpus) => {
    const node = network.addNode();
    network.addArc(node, sink, Math.max(0, gpus));
    return node;
  });
  const arcs = open.flatMap(({ node, classes: allowed, gpus }) => {
    const item = network.addNode();
    network.addArc(source, item, gpus);
    return allowed.map((nodeClass) => {
      const arc = network.addArc(item, nodesOf[nodeClass] ?? sink, gpus);
      return { node, nodeClass, arc };
    });
  });
  network.augment(source, sink);
  for (const { node, nodeClass, arc } of arcs) {
    const gpus = network.flowOf(arc);
    if (gpus > 0) found.push({ node, nodeClass, gpus });
  }
  return found;
}
