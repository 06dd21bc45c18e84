/**
 * What a scheduler reports about a whole pod, before it looks at any node (kube-scheduler 1.36: VolumeBinding and VolumeZone,
 * PreFilter): nothing on any node would help.
 */
const aboutPod: readonly RegExp[] = [
  /\bpersistentvolumeclaim "[^"]*" (?:not found|is being deleted|bound to non-existent persistentvolume)/i,
  /\bpod has unbound immediate PersistentVolumeClaims\b/i,
  /\bstorageclass[\w.]* "[^"]*" not found/i,
];

/** Reasons about single nodes, with the number of nodes: no pod could change them by leaving the node. */
const aboutNodes =
  /\b(\d+) node\(s\) (?:didn't match Pod's node affinity\/selector|didn't match node selector|didn't match pod affinity rules|had volume node affinity conflict|had no available volume zone|had (?:untolerated taint(?:\(s\))?|taint) \{(?!node\.(?:cloudprovider\.)?kubernetes\.io\/)[^}]*\})/g;

/**
 * Whether the message of a pod's condition `PodScheduled` means that no node will take the pod even if it were empty: the
 * objects that it needs are missing, or its own rules, or taints that people gave the nodes, exclude every node. Taints that
 * Kubernetes sets with the state of a node come and go. Unknown messages count as no. Volcano uses the same words as
 * kube-scheduler.
 */
export function isRefusedEverywhere(message: string): boolean {
  const [said = ""] = message.split(" preemption: ");
  if (aboutPod.some((pattern) => pattern.test(said))) return true;
  const nodes = /\b0\/(\d+) nodes are (?:un)?available: /.exec(said)?.[1];
  if (nodes === undefined) return false;
  let refused = 0;
  for (const [, count] of said.matchAll(aboutNodes)) refused += Number(count);
  return refused > 0 && refused >= Number(nodes);
}
