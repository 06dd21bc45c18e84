import { describe, expect, it } from "vitest";
import { z } from "zod";
import { variants } from "../servers/deployVariants.ts";
import { until } from "../servers/kubernetesAdmin.ts";
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
  it.each(Object.keys(variants))(
    "%s: its pods are ready under pod security `restricted`, and a review can be asked for",
    async (variant) => {
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
      if (variant === "tls-and-users")
        await node.run(`NAMESPACE=${namespace}\n${webSecrets(`${variant}-fairlead.${namespace}.svc`)}`);
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
      await reviewsNow(namespace);
      await node.run(`kubectl delete namespace ${namespace} --wait=false`);
    },
  );
});

const namesSchema = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });
const jobSchema = z.object({ status: z.object({ succeeded: z.number().optional(), failed: z.number().optional() }) });

/** Asks for the review at once, as the chart's notes say. So early there is none yet: an answer, and no failed pod. */
async function reviewsNow(namespace: string): Promise<void> {
  const cronJobs = await node.get(`/apis/batch/v1/namespaces/${namespace}/cronjobs`);
  const names = namesSchema.parse(JSON.parse(cronJobs)).items.map(({ metadata }) => metadata.name);
  for (const name of names.filter((one) => one.endsWith("-review"))) {
    await node.run(`kubectl --namespace ${namespace} create job --from=cronjob/${name} review-now`);
    let status: z.infer<typeof jobSchema>["status"] = {};
    await until("the review has ended", async () => {
      const job = await node.get(`/apis/batch/v1/namespaces/${namespace}/jobs/review-now`);
      ({ status } = jobSchema.parse(JSON.parse(job)));
      return status.succeeded !== undefined || status.failed !== undefined;
    });
    const said = await node.run(`kubectl --namespace ${namespace} logs job/review-now`);
    expect({ succeeded: status.succeeded, failed: status.failed, said }).toEqual({
      succeeded: 1,
      failed: undefined,
      said: expect.stringContaining("There is no review of"),
    });
  }
}
