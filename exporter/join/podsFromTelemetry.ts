import type { Pod } from "../model/pod.ts";
import { toleratesAll } from "../model/queues/nodeMatch.ts";
import type { DeviceDraft } from "./drafts.ts";
import { isReservationPod, type OpenRequest } from "./holdings/podOnNode.ts";

/** A pod that only telemetry names, with requests made to fit the devices it is named on. */
export interface NamedPod {
  readonly pod: Pod;
  readonly open: OpenRequest[];
}

/**
 * Where pod objects were not read, the pod labels of rows replace the holdings: one pod per namespace and name on a node.
 * `isRead` names the namespaces whose pods were read: if a row names a pod of these namespaces that does not exist, the pod has
 * ended.
 */
export function podsNamedByTelemetry(
  node: string,
  devices: readonly DeviceDraft[],
  isRead: (namespace: string) => boolean,
): readonly NamedPod[] {
  const named = new Map<string, NamedPod>();
  for (const device of devices) {
    for (const claimant of device.reading?.claimants ?? []) {
      if (isReservationPod(claimant) || isRead(claimant.namespace)) continue;
      const key = `${claimant.namespace}/${claimant.pod}`;
      const entry = named.get(key) ?? {
        pod: standIn(node, claimant.namespace, claimant.pod, claimant.podUid ?? `${node}/${key}`),
        open: [],
      };
      named.set(key, entry);
      const units = Math.min(claimant.slots, device.slots);
      entry.open.push({
        resource: "telemetry",
        gpusPerUnit: device.weight / device.slots,
        placed: 0,
        profile: device.profile,
        units,
      });
    }
  }
  return [...named.values()].map((entry) => ({ pod: entry.pod, open: merged(entry.open) }));
}

/** Requests of one kind add up, as in a pod's object. */
function merged(requests: readonly OpenRequest[]): OpenRequest[] {
  return [...Map.groupBy(requests, (r) => `${r.profile ?? ""}/${r.gpusPerUnit}`).values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, units: group.reduce((sum, r) => sum + r.units, 0) }];
  });
}

function standIn(node: string, namespace: string, name: string, uid: string): Pod {
  return {
    uid,
    namespace,
    name,
    nodeName: node,
    phase: "Running",
    createdAt: null,
    scheduledAt: null,
    allContainersStarted: true,
    gated: false,
    priority: 0,
    priorityClassName: null,
    schedulerName: "",
    nodeSelector: {},
    nodeAffinity: [],
    tolerations: toleratesAll,
    labels: {},
    annotations: {},
    owner: null,
    cpuMilli: 0,
    memoryBytes: 0,
    hasLocalStorage: false,
    gpu: { resources: {}, claims: [], extendedResourceClaim: null },
  };
}
