import type { Admin } from "../kubernetesAdmin.ts";

/**
 * Creates a pod that KAI may have bound before under the same name, as its controller would after it was evicted or deleted.
 * KAI's request to bind the former pod goes first: it bears the pod's name, and in a cluster the garbage collector removes it
 * with the pod. Were it left, KAI would take the new pod for one that is being bound, for ever.
 */
export async function createPodAnew(admin: Admin, namespace: string, name: string, pod: object): Promise<void> {
  const request = `/apis/scheduling.run.ai/v1alpha2/namespaces/${namespace}/bindrequests/${name}`;
  await admin.send("DELETE", request).catch((error: unknown) => {
    if (!String(error).includes("answered 404")) throw error; // never bound
  });
  await admin.send("POST", `/api/v1/namespaces/${namespace}/pods`, pod);
}
