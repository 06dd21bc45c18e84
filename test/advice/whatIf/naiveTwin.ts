import type { Outcome } from "../../../exporter/advice/whatIf/trial.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import { gpuPod } from "../../join/clusterBuilder.ts";
import { admission } from "../../queues/kueueRows.ts";
import { requestsOf } from "./generatedMoments.ts";

/**
 * The state that a cluster of Kueue would be in after an outcome, made from its objects: pods are bound elsewhere, wait, are
 * deleted or created, and their Workloads are admitted or deactivated. No exporter has seen yet what came, only that what left does nothing.
 */
export function twinOf(state: ClusterState, before: Snapshot, { snapshot, started, moved }: Outcome): ClusterState {
  const places = new Map(before.pods.map(({ uid }, i) => [uid, i] as const));
  const waitsAgain = new Set(moved.flatMap(({ pod, to }) => (to === null ? [pod] : [])));
  const left = new Set<string>();
  const pods = state.pods.flatMap((pod) => {
    const place = places.get(pod.uid);
    const [was, is] = place === undefined ? [] : [before.pods[place], snapshot.pods[place]];
    if (place === undefined || was === undefined || is === undefined || was.node === is.node) return [pod];
    left.add(pod.name);
    if (is.node !== null) return [{ ...pod, nodeName: is.node, phase: "Running" as const, scheduledAt: before.at }];
    return waitsAgain.has(place) ? [{ ...pod, nodeName: null, phase: "Pending" as const, scheduledAt: null }] : [];
  });
  const made = snapshot.pods.slice(before.pods.length).map((pod) => {
    const uid = pod.uid?.split("/")[0];
    const workload = state.queues.kueueWorkloads.find((one) => one.uid === uid)?.name ?? "";
    return gpuPod(`made-${pod.name}`, pod.node, pod.gpus ?? 0, {
      annotations: { "kueue.x-k8s.io/workload": workload },
      cpuMilli: 1000 * (pod.gpus ?? 0),
      memoryBytes: 0,
    });
  });
  const running = new Set(started.map((gang) => before.queueing.gangs[gang]?.name));
  const gone = new Set(
    snapshot.pods.flatMap((pod, i) =>
      before.pods[i]?.status === "allocated" && pod.node === null && !waitsAgain.has(i) ? pod.name : [],
    ),
  );
  const paused = new Set(
    snapshot.queueing.gangs.flatMap(({ never, uid }, i) =>
      never === "paused" && before.queueing.gangs[i]?.never === null ? [uid] : [],
    ),
  );
  const kueueWorkloads = state.queues.kueueWorkloads.map((workload): KueueWorkload => {
    const [podSet] = workload.podSets;
    if (running.has(workload.name) && podSet !== undefined)
      return {
        ...workload,
        ...admission(workload.localQueue, "any", podSet.count, podSet.pod.requests["nvidia.com/gpu"] ?? 0),
      };
    return gone.has(workload.name) || paused.has(workload.uid)
      ? { ...workload, active: false, admission: null, conditions: [] }
      : workload;
  });
  const telemetry = state.telemetry.map((page) => ({
    ...page,
    devices: page.devices.map((row) => {
      const claimants = row.claimants.filter(({ pod }) => !left.has(pod));
      return claimants.length === row.claimants.length ? row : { ...row, claimants, gpuUtil: 0, smActive: 0 };
    }),
  }));
  const all = [...pods, ...made];
  const requestsByNode = new Map(
    state.nodes.map(({ name }) => [name, requestsOf(all.filter(({ nodeName }) => nodeName === name))] as const),
  );
  return { ...state, requestsByNode, pods: all, queues: { ...state.queues, kueueWorkloads }, telemetry };
}
