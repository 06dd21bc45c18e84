import { join } from "node:path";
import { expect } from "vitest";
import type { StepsFound } from "../../exporter/advice/steps/step.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import type { AdviceStep, JsonValue } from "../../exporter/model/recommendation.ts";
import { stepsOf } from "../advice/steps/stepMoment.ts";
import { type AdviceSender, createAdviceSender } from "./adviceRequests.ts";
import { startApiServer } from "./apiServer.ts";
import { type Admin, type AdminObject, crdObject, createAdmin, until } from "./kubernetesAdmin.ts";
import { installed } from "./program.ts";
import { createGpuNodes } from "./queues/gpuNodes.ts";
import { type Kueue, startKueue } from "./queues/kueue.ts";
import { watchCluster } from "./queues/lookAt.ts";
import { createDefinitions } from "./queues/resourceDefinitions.ts";

/** A real API server with everything that advice changes, and a judge of what it says to the requests of advice. */
export interface AdviceCluster {
  readonly admin: Admin;
  readonly sender: AdviceSender;
  /** Creates an object of a collection. */
  make(path: string, kind: string, object: object): Promise<AdminObject>;
  /** The cluster as Fairlead reads it, once it has read what is looked for. */
  snapshotWith(found: (snapshot: Snapshot) => boolean): Promise<Snapshot>;
  /** Fails unless each step is taken, as a request and as a command, and changes nothing as a dry run. */
  accepted(found: StepsFound): Promise<readonly AdviceStep[]>;
  /** Fails unless the same for another object of that name is refused, and nothing has changed. */
  refusedForAnother(step: AdviceStep, uid: string): Promise<void>;
  stop(): Promise<void>;
}

/** No object of a test has it. */
const another = "11111111-2222-4333-8444-555555555555";

/** Kinds whose definitions no Go module of a fit size has: any content is taken. */
const looseKinds = [
  ["kubeflow.org", "Notebook", "notebooks"],
  ["serving.kserve.io", "InferenceService", "inferenceservices"],
] as const;

/**
 * Starts the API server with Kueue (its webhooks look at every request), the definitions of Volcano, KAI, Karpenter and workloads, one
 * node with 8 GPUs and the namespace.
 */
export async function startAdviceCluster(namespace: string): Promise<AdviceCluster> {
  const server = await startApiServer();
  const admin = createAdmin(server);
  let [sender, kueue]: [AdviceSender | undefined, Kueue | undefined] = [undefined, undefined];
  const stop = async (): Promise<void> => {
    await sender?.close();
    await kueue?.stop();
    await admin.close();
    await server.stop();
  };
  try {
    sender = await createAdviceSender(server);
    kueue = await startKueue(server, admin);
    for (const script of ["install-volcano.sh", "install-kai.sh", "install-workload-crds.sh"]) {
      await createDefinitions(admin, join(await installed(script), "crds"));
    }
    await createDefinitions(admin, join(await installed("install-operator-crds.sh"), "karpenter"));
    for (const [group, kind, plural] of looseKinds) await defineLoosely(admin, group, kind, plural);
    await admin.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    await createGpuNodes(admin, [{ name: "node-a", product: "NVIDIA-H100-80GB-HBM3", gpus: 8 }]);
    return {
      admin,
      sender,
      stop,
      ...judgeOf(sender),
      make: (path, kind, object) => {
        const apiVersion = path.split("/").slice(2, 4).join("/");
        return admin.send("POST", path, { apiVersion, kind, ...object });
      },
      snapshotWith: async (found) => {
        const watcher = await watchCluster(server, "capacity");
        try {
          await until("the snapshot has it", () => found(watcher.look().snapshot));
          return watcher.look().snapshot;
        } finally {
          await watcher.stop();
        }
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function defineLoosely(admin: Admin, group: string, kind: string, plural: string): Promise<void> {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await admin.send("POST", definitions, crdObject(group, kind, plural));
  await until(`${plural} are served`, () =>
    admin.names(`/apis/${group}/v1/${plural}`).then(
      () => true,
      () => false,
    ),
  );
}

function judgeOf(sender: AdviceSender): Pick<AdviceCluster, "accepted" | "refusedForAnother"> {
  return {
    accepted: async (found) => {
      const steps = stepsOf(found);
      for (const step of steps) {
        const before = await sender.contentOf(step);
        const { status, body } = await sender.send(step.request, true);
        expect([step.title, status, status < 300 ? "" : body]).toEqual([step.title, expect.toBeOneOf([200, 201]), ""]);
        if (step.request.contentType === "application/merge-patch+json") expect(body).toMatchObject(keptOf(step));
        if (step.dryRun !== null) await sender.shell(step.dryRun);
        expect([step.title, await sender.contentOf(step)]).toEqual([step.title, before]);
      }
      return steps;
    },
    refusedForAnother: async (step, uid) => {
      const text = JSON.stringify(step.request.body);
      expect(text).toContain(uid);
      const body: JsonValue = JSON.parse(text.replaceAll(uid, another));
      const before = await sender.contentOf(step);
      const { status } = await sender.send({ ...step.request, body }, false);
      // A patch that changes a uid, or whose test fails, is invalid; a precondition that does not hold is a conflict.
      expect([step.title, status]).toEqual([step.title, step.request.verb === "PATCH" ? 422 : 409]);
      expect(await sender.contentOf(step)).toBe(before);
    },
  };
}

/** What a merge patch sets and the answer must have: a field that the server does not know would be gone. `false` may be, `null` is. */
function keptOf({ request: { body } }: AdviceStep): object {
  return JSON.parse(JSON.stringify(body), (_key, value: unknown) =>
    value === false || value === null || JSON.stringify(value) === "{}" ? undefined : value,
  );
}
