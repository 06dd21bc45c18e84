import { expect } from "vitest";
import type { MemoryPlay } from "../../../cli/demo/playInMemory.ts";
import { isoTime } from "../../../exporter/kernel/isoTime.ts";
import type { JsonValue } from "../../../exporter/model/recommendation.ts";

interface Stopped {
  readonly collection: string;
  /** A merge patch. */
  readonly patch: (now: number) => JsonValue;
}

const kinds: Readonly<Record<string, Stopped>> = {
  Notebook: {
    collection: "/apis/kubeflow.org/v1",
    patch: (now) => ({ metadata: { annotations: { "kubeflow-resource-stopped": isoTime(now) } } }),
  },
  StatefulSet: { collection: "/apis/apps/v1", patch: () => ({ spec: { replicas: 0 } }) },
  Deployment: { collection: "/apis/apps/v1", patch: () => ({ spec: { replicas: 0 } }) },
  PyTorchJob: { collection: "/apis/kubeflow.org/v1", patch: () => ({ spec: { runPolicy: { suspend: true } } }) },
};

/** Where the object of a target (`Kind namespace/name`) is; `null` for kinds that nobody stops by an object of their own. */
export function pathOf(target: string): string | null {
  const [kind = "", namespace = "", name = ""] = target.split(/[ /]/);
  const known = kinds[kind];
  return known === undefined ? null : `${known.collection}/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
}

/** Stops work as its owner would, without a plan. */
export async function stopWork(play: MemoryPlay, target: string): Promise<void> {
  const path = pathOf(target);
  const patch = kinds[target.split(" ")[0] ?? ""]?.patch;
  if (path === null || patch === undefined) throw new Error(`nobody knows how to stop ${target}`);
  const contentType = "application/merge-patch+json";
  const { code, message } = await play.write({ verb: "PATCH", path, contentType, body: patch(play.cluster.now()) });
  expect(code, `${target}: ${message}`).toBe(200);
}
