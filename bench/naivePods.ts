/** What a pod costs if it is read in the usual way: everything is parsed, and 15 fields are kept. */

interface RawPod {
  readonly metadata: {
    readonly uid: string;
    readonly namespace: string;
    readonly name: string;
    readonly creationTimestamp: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly priority?: number;
    readonly schedulerName?: string;
    readonly containers: readonly {
      readonly resources?: {
        readonly requests?: Readonly<Record<string, string>>;
        readonly limits?: Readonly<Record<string, string>>;
      };
    }[];
  };
  readonly status?: { readonly phase?: string; readonly startTime?: string };
}

/** Keeps 15 fields of every pod of a page. Quantities stay texts, so this is the least that any reader does. */
export function pickPods(page: Buffer, into: Map<string, object>): void {
  const list: { readonly items: readonly RawPod[] } = JSON.parse(page.toString("utf8"));
  for (const { metadata, spec, status } of list.items) {
    const [container] = spec.containers;
    into.set(metadata.uid, {
      uid: metadata.uid,
      namespace: metadata.namespace,
      name: metadata.name,
      createdAt: metadata.creationTimestamp,
      team: metadata.labels?.team,
      queue: metadata.labels?.["kueue.x-k8s.io/queue-name"],
      ownerKind: metadata.ownerReferences?.[0]?.kind,
      ownerName: metadata.ownerReferences?.[0]?.name,
      node: spec.nodeName,
      priority: spec.priority,
      scheduler: spec.schedulerName,
      cpu: container?.resources?.requests?.cpu,
      memory: container?.resources?.requests?.memory,
      gpus: container?.resources?.limits?.["nvidia.com/gpu"],
      phase: status?.phase,
    });
  }
}
