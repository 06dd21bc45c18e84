import type { ClusterState, NodeRequests } from "../exporter/model/cluster.ts";
import type { Pod } from "../exporter/model/pod.ts";
import type { TelemetryPage } from "../exporter/model/telemetry.ts";
import { createFleet } from "./fleetState.ts";

/** A fleet in which a third of the pods are missing, so that free GPUs are scattered over nearly all nodes. */
export interface PlacedFleet {
  state(): ClusterState;
  /** Goes on by one cycle: 50 pods on various nodes end, and 50 others begin; everything else stays as it is. */
  step(): void;
}

/** CPU and memory of a pod are one of this many pairs, so that pods have about a hundred common shapes. */
const pairs = 29;
const changesPerSide = 50;

/** Makes a fleet, which is the same for the same number of nodes. */
export function createPlacedFleet(nodes: number): PlacedFleet {
  const base = createFleet(nodes).state();
  const pods = base.pods.filter(({ phase }) => phase === "Running").map(withShape);
  const isGone = new Uint8Array(pods.length);
  for (let i = 0; i < pods.length; i += 1) isGone[i] = mixed(i) % 3 === 0 ? 1 : 0;
  const nameless = pods.map(({ namespace, name }) => `${namespace}/${name}`);
  const indexOf = new Map(nameless.map((name, i) => [name, i] as const));
  const pages = [...base.telemetry];
  const pageOf = new Map(pages.map(({ node }, i) => [node, i] as const));
  const full: readonly TelemetryPage[] = base.telemetry;
  const requests = new Map<string, NodeRequests>();
  let turn = 0;

  /** Makes the rows of a page name the pods that exist. */
  function refresh(page: number): void {
    const before = full[page];
    if (before === undefined) return;
    const isThere = ({ namespace, pod }: { readonly namespace: string; readonly pod: string }): boolean =>
      isGone[indexOf.get(`${namespace}/${pod}`) ?? -1] !== 1;
    const devices = before.devices.map((one) => ({ ...one, claimants: one.claimants.filter(isThere) }));
    pages[page] = { ...before, devices };
  }

  function count(pod: Pod, sign: 1 | -1): void {
    const { pods: many, cpuMilli, memoryBytes } = requests.get(pod.nodeName ?? "") ?? nothing;
    requests.set(pod.nodeName ?? "", {
      pods: many + sign,
      cpuMilli: cpuMilli + sign * pod.cpuMilli,
      memoryBytes: memoryBytes + sign * pod.memoryBytes,
    });
  }

  function change(index: number, gone: 0 | 1): void {
    const pod = pods[index];
    if (pod === undefined || isGone[index] === gone) return;
    isGone[index] = gone;
    count(pod, gone === 1 ? -1 : 1);
    refresh(pageOf.get(pod.nodeName ?? "") ?? -1);
  }

  for (const [i, pod] of pods.entries()) if (isGone[i] !== 1) count(pod, 1);
  for (let page = 0; page < pages.length; page += 1) refresh(page);
  return {
    state: () => ({
      ...base,
      pods: pods.filter((_, i) => isGone[i] !== 1),
      telemetry: [...pages],
      requestsByNode: new Map(requests),
    }),
    step() {
      turn += 1;
      const changed: [number, number] = [0, 0];
      for (
        let i = mixed(turn) % pods.length;
        changed[0] + changed[1] < 2 * changesPerSide;
        i = (i + 797) % pods.length
      ) {
        const side = isGone[i] === 1 ? 1 : 0;
        if (changed[side] === changesPerSide) continue;
        changed[side] += 1;
        change(i, side === 1 ? 0 : 1);
      }
    },
  };
}

const nothing: NodeRequests = { pods: 0, cpuMilli: 0, memoryBytes: 0 };

function withShape(pod: Pod, index: number): Pod {
  const kind = mixed(index) % pairs;
  return { ...pod, cpuMilli: 2000 + 1500 * kind, memoryBytes: (8 + 4 * ((kind * 7) % pairs)) * 2 ** 30 };
}

/** Spreads indices so that neighbours get different numbers. */
function mixed(index: number): number {
  return Math.imul(index + 1, 2_654_435_761) >>> 7;
}
