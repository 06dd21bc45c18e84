import fc from "fast-check";
import { expect, it } from "vitest";
import {
  analysisOf,
  before,
  conditionObject,
  container,
  gpuNodeObject,
  meta,
  queueObjects,
  workloadObject,
} from "../../join/queues/kueueApiObjects.ts";

const rackLabel = "example.com/rack";
const gpusOfNode = 4;

interface RackedNode {
  readonly rack: string | null;
  readonly free: number;
}

function nodeObjects({ rack, free }: RackedNode, index: number): readonly object[] {
  const place = rack === null ? {} : { [rackLabel]: rack };
  const labels = { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "4", ...place };
  const name = `n${index}`;
  const node = { ...gpuNodeObject(name, gpusOfNode), metadata: meta(name, { labels }) };
  if (free === gpusOfNode) return [node];
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: meta(`other-${index}`, { namespace: "research" }),
    spec: { containers: [container(gpusOfNode - free)], nodeName: name },
    status: { phase: "Running", startTime: before(3600) },
  };
  return [node, pod];
}

function causeIn(nodes: readonly RackedNode[], pods: number, gpus: number): string | undefined {
  const template = { spec: { containers: [container(gpus)] } };
  const podSets = [{ name: "main", count: pods, topologyRequest: { required: rackLabel }, template }];
  const { waiting } = analysisOf([
    ...nodes.flatMap(nodeObjects),
    ...queueObjects(1000),
    {
      apiVersion: "kueue.x-k8s.io/v1beta2",
      kind: "Topology",
      metadata: meta("racks"),
      spec: { levels: [{ nodeLabel: rackLabel }] },
    },
    {
      ...workloadObject("train", { count: pods, containers: [container(gpus)] }),
      spec: { queueName: "q", podSets },
      status: { conditions: [conditionObject("QuotaReserved", "False", "Pending", "waits")] },
    },
  ]);
  return waiting.work[0]?.cause;
}

/** The same by counting places, rack by rack. */
function naiveCause(nodes: readonly RackedNode[], pods: number, gpus: number): string {
  const placesOn = (some: readonly RackedNode[]): number =>
    some.reduce((sum, { free }) => sum + Math.floor(free / gpus), 0);
  if (nodes.length * gpusOfNode < pods * gpus) return "constraint";
  // There is room for some of its members, or for none.
  if (nodes.reduce((sum, { free }) => sum + free, 0) < pods * gpus)
    return pods > 1 && placesOn(nodes) > 0 ? "gang" : "capacity";
  if (placesOn(nodes) < pods) return "fragmentation";
  const racks = new Set(nodes.flatMap(({ rack }) => rack ?? []));
  // Without any rack there is no level of which anything is known.
  if (racks.size === 0) return "scheduler";
  return [...racks].some((rack) => placesOn(nodes.filter((node) => node.rack === rack)) >= pods)
    ? "scheduler"
    : "topology";
}

it("a gang that requires a rack waits for what a count of places, rack by rack, finds", () => {
  const node = fc.record({
    rack: fc.constantFrom<string | null>("r1", "r1", "r2", "r2", "r3", null),
    free: fc.constantFrom(0, 1, 2, 4, 4),
  });
  const seen = new Set<string>();
  fc.assert(
    fc.property(
      fc.array(node, { minLength: 1, maxLength: 9 }),
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom(1, 2, 4),
      (nodes, pods, gpus) => {
        const expected = naiveCause(nodes, pods, gpus);
        seen.add(expected);
        expect(causeIn(nodes, pods, gpus)).toBe(expected);
      },
    ),
    { seed: 26, numRuns: 200 },
  );
  expect([...seen].sort()).toEqual(["capacity", "constraint", "fragmentation", "gang", "scheduler", "topology"]);
});
