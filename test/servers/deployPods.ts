import { z } from "zod";
import type { InstalledObject } from "../../deploy/output/installedObject.ts";

const podTemplate = z.looseObject({
  metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
  spec: z.looseObject({ volumes: z.array(z.looseObject({ name: z.string() })) }),
});
const statefulSet = z.looseObject({
  kind: z.literal("StatefulSet"),
  spec: z.looseObject({
    template: podTemplate,
    volumeClaimTemplates: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string() }) })).default([]),
  }),
});
const cronJob = z.looseObject({
  kind: z.literal("CronJob"),
  spec: z.looseObject({ jobTemplate: z.looseObject({ spec: z.looseObject({ template: podTemplate }) }) }),
});

/** The pods that controllers would make of objects: there is no controller beside the API server. */
export function podsOf(objects: readonly InstalledObject[]): readonly InstalledObject[] {
  return objects.flatMap((object) => {
    const replicas = statefulSet.safeParse(object);
    if (replicas.success) {
      const { template, volumeClaimTemplates } = replicas.data.spec;
      const claims = volumeClaimTemplates.map(({ metadata: { name } }) => ({
        name,
        persistentVolumeClaim: { claimName: `${name}-${object.metadata.name}-0` },
      }));
      const spec = { ...template.spec, volumes: [...claims, ...template.spec.volumes] };
      return [podIn(object, { ...template, spec })];
    }
    const job = cronJob.safeParse(object);
    return job.success ? [podIn(object, job.data.spec.jobTemplate.spec.template)] : [];
  });
}

function podIn(
  { metadata }: InstalledObject,
  { metadata: { labels }, spec }: z.output<typeof podTemplate>,
): InstalledObject {
  const { name, namespace } = metadata;
  return { apiVersion: "v1", kind: "Pod", metadata: { name: `${name}-0`, namespace, labels }, spec };
}
