import type { Problem } from "../../model/problem.ts";
import type { TelemetryClaimant } from "../../model/telemetry.ts";
import type { DeviceDraft } from "../drafts.ts";
import { sameProfile } from "../mig.ts";
import { give, type OpenRequest, type PodOnNode } from "./podOnNode.ts";

/**
 * Holdings by the pod labels of telemetry rows, for pods that really ask for such a device on that node. Rows lag: a pod
 * that ended, was made anew under the same name (other uid), or never asked for GPUs holds nothing; a pod that rows show
 * on more devices than it asked for gets no more than it asked for.
 */
export function holdByLabels(
  devices: readonly DeviceDraft[],
  podsByName: ReadonlyMap<string, PodOnNode>,
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const device of devices) {
    if (device.reading === null) continue;
    for (const claimant of [...device.reading.claimants].sort(byName)) {
      const pod = podsByName.get(`${claimant.namespace}/${claimant.pod}`);
      if (pod === undefined || (claimant.podUid !== null && claimant.podUid !== pod.pod.uid)) continue;
      // The row shows what its claim gave it; its request is served by another device.
      if (device.shares.some((share) => share.pod === pod.index)) continue;
      const request = pod.open.find((r) => fits(r, device));
      if (request === undefined) continue;
      if (request.units <= 0) problems.push(moreThanAsked(device, pod));
      else hold(device, claimant, pod, request);
    }
  }
  return problems;
}

function byName(a: TelemetryClaimant, b: TelemetryClaimant): number {
  const [first, second] = [`${a.namespace}/${a.pod}`, `${b.namespace}/${b.pod}`];
  return first < second ? -1 : first > second ? 1 : 0;
}

function fits(request: OpenRequest, device: DeviceDraft): boolean {
  if (request.profile === null) return device.profile === null;
  return device.profile !== null && sameProfile(request.profile, device.profile);
}

function hold(device: DeviceDraft, claimant: TelemetryClaimant, pod: PodOnNode, request: OpenRequest): void {
  // Rows may show more slots than the pod's own units on the device: the rest belong to another GPU.
  const perUnit = request.profile === null ? request.gpusPerUnit : device.weight / device.slots;
  const fitting = Math.max(1, Math.floor(device.weight / perUnit + 1e-6));
  const units = Math.min(claimant.slots, device.slots, request.units, fitting);
  const share = Math.min(device.weight, units * perUnit);
  request.units -= units;
  request.placed += units * perUnit;
  give(device, { pod: pod.index, share, source: "dcgm", processUtil: claimant.processUtil });
}

function moreThanAsked(device: DeviceDraft, pod: PodOnNode): Problem {
  const name = `${pod.pod.namespace}/${pod.pod.name}`;
  return {
    source: "join",
    code: "label-exceeds-request",
    severity: "info",
    subject: name,
    message: `telemetry of node ${device.node} shows pod ${name} on ${device.uuid ?? "a GPU"} beyond what it requests; the row is not believed`,
    nextStep:
      "Rows of ended pods go away with the kubelet's next report; if it stays, restart dcgm-exporter on the node.",
  };
}
