import { describe, expect, it } from "vitest";
import { z } from "zod";
import { variants } from "../servers/deployVariants.ts";
import { grantRights, smallRequest, variantNeeds, webSecrets } from "./chartVariants.ts";
import { givenNode } from "./givenNode.ts";

const node = givenNode("beside");

const podsSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      status: z.object({
        containerStatuses: z.array(z.object({ ready: z.boolean(), restartCount: z.number(), image: z.string() })),
      }),
    }),
  ),
});

describe.concurrent("the chart, installed with the values of", () => {
  it.each(Object.keys(variants))("%s: its pods are ready under pod security `restricted`", async (variant) => {
    const {
      namespace = `chart-${variant}`,
      manifests,
      instead = [],
      neverWhole,
      request,
    } = variantNeeds[variant] ?? {};
    const inNamespace = `kubectl --namespace ${namespace}`;
    await node.run(`kubectl create namespace ${namespace}
      kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`);
    if (manifests !== undefined) await node.run(`${inNamespace} apply --filename -`, { input: manifests });
    await grantRights(node, namespace, variant);
    if (variant === "tls-and-users") await node.run(`NAMESPACE=${namespace}\n${webSecrets("fairlead.fairlead.svc")}`);
    const values = [request ?? smallRequest, ...instead.map(([value]) => `--set '${value}'`)].join(" ");
    await node.run(
      `helm install ${variant} deploy/helm/fairlead --namespace ${namespace} --timeout 4m \
         ${neverWhole === undefined ? "--wait" : ""} --values deploy/helm/fairlead/ci/${variant}-values.yaml ${values}
       ${inNamespace} rollout status statefulset --timeout=240s`,
    );
    const { items } = podsSchema.parse(JSON.parse(await node.get(`/api/v1/namespaces/${namespace}/pods`)));
    expect(items).not.toEqual([]);
    const statuses = items.flatMap(({ status }) => status.containerStatuses);
    expect(statuses.filter(({ ready, restartCount }) => !ready || restartCount > 0)).toEqual([]);
    await node.run(`helm uninstall ${variant} --namespace ${namespace} --wait
      kubectl delete namespace ${namespace} --wait=false`);
  });
});
