import type { Problem } from "../model/problem.ts";
import { shownGpus } from "./shownGpus.ts";
import type { CountedBy } from "./witnesses.ts";

/** Fewer GPUs than the node has had since its boot. */
export function lostGpus(node: string, physical: number, counted: number): Problem {
  return {
    source: "join",
    code: "gpu-lost",
    severity: "warning",
    subject: node,
    message: `node ${node} had ${physical} GPUs since its boot and now shows ${counted}; the difference is unavailable, not gone`,
    nextStep:
      "Look for XID errors in the node's kernel log (`dmesg | grep -i xid`); a reboot of the node starts a new count.",
  };
}

/** Two sources that count GPUs differently; the first one is taken. */
export function disagree(node: string, taken: string, takenValue: number, other: string, otherValue: number): Problem {
  return {
    source: "join",
    code: "gpu-count-conflict",
    severity: "warning",
    subject: node,
    message: `node ${node}: ${taken} says ${takenValue} GPUs, ${other} says ${otherValue}`,
    nextStep:
      "Compare with `nvidia-smi -L` on the node; GPU Feature Discovery and the device plugin may need a restart.",
  };
}

/** Units of a resource that outnumber the GPUs behind them, according to an accepted witness. */
export function takenAsShared(node: string, witness: CountedBy, units: number): Problem {
  const { source, physicalGpus } = witness;
  return {
    source: "join",
    code: "gpu-count-conflict",
    severity: "warning",
    subject: node,
    message: `node ${node}: ${source} says ${physicalGpus} GPUs, nvidia.com/gpu says ${units}: each GPU counts as shared by ${shownGpus(units / physicalGpus)}`,
    nextStep:
      "If its GPUs are shared on purpose, let the node say so: label nvidia.com/gpu.replicas, or gpu.replicas in the configuration.",
  };
}

/** A resource of a node that cannot be converted to GPUs. */
export function unknownUnit(node: string, resource: string, amount: number): Problem {
  return {
    source: "join",
    code: "gpu-resource-unknown",
    severity: "warning",
    subject: node,
    message: `node ${node} offers ${amount} of ${resource}, and nothing says how much of a GPU one of it is`,
    nextStep: `Set gpu.replicas or gpu.resources for ${resource} in the configuration, or the label nvidia.com/gpu.replicas on the node.`,
  };
}

/** A node that evidently has GPUs, but an unknown number. */
export function notCounted(node: string, model: string): Problem {
  return {
    source: "join",
    code: "node-uncounted",
    severity: "warning",
    subject: node,
    message: `node ${node} shows signs of GPUs (${model}), but neither ResourceSlices, labels, resources nor its instance type say how many`,
    nextStep:
      "Check the device plugin or DRA driver on it, or label it with nvidia.com/gpu.count; until then it is left out of every sum.",
  };
}

/** A number of GPUs that no machine has. */
export function tooMany(node: string, physicalGpus: number): Problem {
  return {
    source: "join",
    code: "gpu-count-absurd",
    severity: "warning",
    subject: node,
    message: `node ${node} claims to have ${physicalGpus} GPUs, more than any machine; the number is not believed`,
    nextStep: "Check the node's capacity and its label nvidia.com/gpu.count: kubectl get node -o yaml.",
  };
}
