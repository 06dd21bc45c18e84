import { z } from "zod";

/** The parts of objects that these tests look at; everything else is kept. */
export const kubeObject = z.looseObject({
  kind: z.string().optional(),
  apiVersion: z.string().optional(),
  metadata: z.looseObject({
    name: z.string().default(""),
    namespace: z.string().optional(),
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
    ownerReferences: z
      .array(z.looseObject({ apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.string() }))
      .optional(),
  }),
  spec: z.looseObject({}).optional(),
  status: z.unknown().optional(),
});
export type SeenObject = z.infer<typeof kubeObject>;

const kubeList = z.object({
  kind: z.string(),
  metadata: z.object({
    resourceVersion: z.string(),
    continue: z.string().optional(),
    remainingItemCount: z.number().optional(),
  }),
  items: z.array(kubeObject),
});

export const kubeStatus = z.object({
  kind: z.literal("Status"),
  status: z.literal("Failure"),
  code: z.number(),
  reason: z.string(),
  message: z.string(),
  details: z.looseObject({}).optional(),
});

export async function getText(url: string): Promise<string> {
  return (await fetch(url)).text();
}

export async function getList(url: string): Promise<z.infer<typeof kubeList>> {
  return kubeList.parse(await (await fetch(url)).json());
}

/** The status code with the Status object of a refused request. */
export async function getFailure(url: string): Promise<{ http: number; status: z.infer<typeof kubeStatus> }> {
  const response = await fetch(url);
  return { http: response.status, status: kubeStatus.parse(await response.json()) };
}

const watchEvent = z.object({ type: z.string(), object: kubeObject.or(kubeStatus) });
export type WatchEvent = z.infer<typeof watchEvent>;

/** A watch whose events are read until one of a type comes, or until it ends. */
export interface OpenWatch {
  /** All events up to and with the first one of this type. Rejects when the stream breaks. */
  readUntil(type: string): Promise<readonly WatchEvent[]>;
  /** All events until the server ends the stream. */
  readToEnd(): Promise<readonly WatchEvent[]>;
  close(): Promise<void>;
}

export async function openWatch(url: string): Promise<OpenWatch> {
  const response = await fetch(url);
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  let buffered = "";

  async function nextLine(): Promise<string | null> {
    for (;;) {
      const end = buffered.indexOf("\n");
      if (end >= 0) {
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + 1);
        return line;
      }
      const { done, value } = await reader.read();
      if (done) return null;
      buffered += value;
    }
  }

  async function read(until: string | null): Promise<readonly WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (;;) {
      const line = await nextLine();
      if (line === null) return events;
      const event = watchEvent.parse(JSON.parse(line));
      events.push(event);
      if (event.type === until) return events;
    }
  }

  return { readUntil: read, readToEnd: () => read(null), close: () => reader.cancel() };
}

/** Every path that lists objects. */
export const listPaths = [
  "/api/v1/namespaces",
  "/api/v1/nodes",
  "/api/v1/pods",
  "/apis/apps/v1/daemonsets",
  "/apis/apps/v1/deployments",
  "/apis/apps/v1/replicasets",
  "/apis/apps/v1/statefulsets",
  "/apis/batch/v1/jobs",
  "/apis/policy/v1/poddisruptionbudgets",
  "/apis/resource.k8s.io/v1/resourceclaims",
  "/apis/resource.k8s.io/v1/resourceslices",
  "/apis/scheduling.k8s.io/v1/priorityclasses",
  "/apis/jobset.x-k8s.io/v1alpha2/jobsets",
  "/apis/kubeflow.org/v1/notebooks",
  "/apis/kubeflow.org/v1/pytorchjobs",
  "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",
] as const;
