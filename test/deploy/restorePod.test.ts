import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const fileOf = (name: string): unknown => parse(readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8"));

const mount = z.looseObject({ name: z.string(), mountPath: z.string() });
const podSpec = z.looseObject({
  securityContext: z.unknown(),
  containers: z.tuple([
    z.looseObject({ image: z.string(), securityContext: z.unknown(), volumeMounts: z.array(mount) }),
  ]),
});
const named = z.looseObject({ name: z.string(), namespace: z.string() });
const restorePod = z.looseObject({ metadata: named, spec: podSpec.extend({ volumes: z.array(z.unknown()) }) });
const statefulSet = z.looseObject({
  metadata: named,
  spec: z.looseObject({
    template: z.looseObject({ spec: podSpec }),
    volumeClaimTemplates: z.tuple([z.looseObject({ metadata: z.looseObject({ name: z.string() }) })]),
  }),
});

test("the pod that restores a ledger is one of the first replica: its image, rights, namespace, claim and folder", () => {
  const pod = restorePod.parse(fileOf("restore-pod.yaml"));
  const { metadata, spec } = statefulSet.parse(fileOf("dist/kustomize/base/statefulset-fairlead.yaml"));
  const [restoring] = pod.spec.containers;
  const [running] = spec.template.spec.containers;
  expect(pod.metadata.namespace).toBe(metadata.namespace);
  expect(pod.spec.securityContext).toEqual(spec.template.spec.securityContext);
  expect(restoring.securityContext).toEqual(running.securityContext);
  expect(restoring.image).toBe(running.image);
  const claimName = `${spec.volumeClaimTemplates[0].metadata.name}-${metadata.name}-0`;
  expect(pod.spec.volumes).toContainEqual({ name: "ledger", persistentVolumeClaim: { claimName } });
  const ledgerOf = (mounts: readonly z.output<typeof mount>[]) => mounts.filter(({ name }) => name === "ledger");
  expect(ledgerOf(restoring.volumeMounts)).toEqual(ledgerOf(running.volumeMounts));
  expect(restoring).toMatchObject({
    args: ["ledger", "restore", "--replace", `${ledgerOf(restoring.volumeMounts)[0]?.mountPath}/ledger.db`],
  });
});
