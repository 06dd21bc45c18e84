import fc from "fast-check";
import { expect, it } from "vitest";
import { kueueFinder } from "../../../exporter/join/queues/kueueFinder.ts";
import { type KueueNamespace, kueueNamespaces } from "../../../exporter/join/queues/kueueNamespaces.ts";
import { admission, localQueue, workload } from "../../queues/kueueRows.ts";
import { gpuPod } from "../clusterBuilder.ts";

const names = ["one", "two", "three"] as const;

const anyLocalQueue = fc
  .record({ namespace: fc.constantFrom(...names), name: fc.constantFrom("a", "b"), leadsTo: fc.constantFrom("x", "y") })
  .map(({ namespace, name, leadsTo }) => ({ ...localQueue(name, leadsTo), namespace }));

const anyWorkload = fc
  .record({ namespace: fc.constantFrom(...names), owner: fc.constantFrom("o1", "o2"), isAdmitted: fc.boolean() })
  .map(({ namespace, owner, isAdmitted }) => {
    const more = isAdmitted ? admission("admitted", "a100", 1, 1) : {};
    return { ...workload(`of-${owner}`, [], { jobUid: owner, localQueue: "a", ...more }), namespace };
  });

const pods = names.flatMap((namespace) => [
  gpuPod("named", null, 1, { namespace, annotations: { "kueue.x-k8s.io/workload": "of-o1" } }),
  gpuPod("owned", null, 1, { namespace, uid: "o2" }),
  gpuPod("labelled", null, 1, { namespace, labels: { "kueue.x-k8s.io/queue-name": "b" } }),
  gpuPod("admitted", null, 1, { namespace, labels: { "kueue.x-k8s.io/cluster-queue-name": "x" } }),
]);

const anyMoments = fc
  .record({
    localQueues: fc.array(anyLocalQueue, { maxLength: 6 }),
    workloads: fc.array(anyWorkload, { maxLength: 6 }),
  })
  .chain((all) =>
    fc.array(
      fc.record({ kueueLocalQueues: fc.subarray(all.localQueues), kueueWorkloads: fc.subarray(all.workloads) }),
      {
        minLength: 2,
        maxLength: 6,
      },
    ),
  );

it("finds the same queues in namespaces that it keeps as in new ones, and keeps those that have the same objects", () => {
  let kept = 0;
  fc.assert(
    fc.property(anyMoments, (moments) => {
      let last: ReadonlyMap<string, KueueNamespace> = new Map();
      for (const objects of moments) {
        const now = kueueNamespaces(objects, last);
        const anew = kueueNamespaces({ ...objects, kueueWorkloads: [...objects.kueueWorkloads] });
        expect(now).toEqual(anew);
        for (const [name, found] of now) if (found === last.get(name)) kept += 1;
        for (const pod of pods) expect(kueueFinder(now)(pod, [])).toEqual(kueueFinder(anew)(pod, []));
        last = now;
      }
    }),
    { seed: 3, numRuns: 500 },
  );
  expect(kept).toBeGreaterThan(100);
});
