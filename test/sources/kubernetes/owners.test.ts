import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createOwnerLookup,
  defaultOwnerLimits,
  type OwnerLookup,
} from "../../../exporter/sources/kubernetes/owners.ts";
import type { WantedOwner } from "../../../exporter/sources/kubernetes/readOwner.ts";
import { createFakeClock, type FakeClock } from "./fakeClock.ts";
import { answer, type Call, type ScriptedApi, startScriptedApi } from "./scriptedApi.ts";

let clock: FakeClock;
let api: ScriptedApi;
let lookup: OwnerLookup;

beforeEach(async () => {
  clock = createFakeClock();
  api = await startScriptedApi(clock);
  lookup = createOwnerLookup(api.client, clock, () => 0, defaultOwnerLimits);
});

afterEach(async () => {
  await lookup.stop();
  await api.close();
});

const wanted = (kind: string, uid: string, apiVersion = "batch/v1", name = uid): WantedOwner => ({
  namespace: "ns",
  owner: { apiVersion, kind, name, uid },
});

function metadataOf(uid: string, owner: WantedOwner | null = null): object {
  const ownerReferences = owner === null ? [] : [{ ...owner.owner, controller: true }];
  return { kind: "PartialObjectMetadata", metadata: { name: uid, namespace: "ns", uid, ownerReferences } };
}

async function expectCall(path: string): Promise<Call> {
  const call = await api.next();
  expect(call.path).toBe(path);
  return call;
}

const found = (): string =>
  lookup
    .owners()
    .map(({ kind, name }) => `${kind}/${name}`)
    .sort()
    .join();
/** No request may follow: a sentinel is the next one that arrives. */
async function expectNoCall(): Promise<void> {
  lookup.track([wanted("Job", "sentinel")]);
  await expectCall("/apis/batch/v1/namespaces/ns/jobs/sentinel");
}

describe("the owners of pods", () => {
  it("are read upwards, metadata only, each once for all its pods", async () => {
    lookup.track([wanted("Job", "j"), wanted("Job", "j")]);
    const call = await expectCall("/apis/batch/v1/namespaces/ns/jobs/j");
    answer(call, 200, metadataOf("j", wanted("JobSet", "s", "jobset.x-k8s.io/v1alpha2")));
    const above = await expectCall("/apis/jobset.x-k8s.io/v1alpha2/namespaces/ns/jobsets/s");
    expect(above.accept).toBe("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    answer(above, 200, metadataOf("s"));
    await lookup.idle();
    expect(found()).toBe("Job/j,JobSet/s");
    expect(lookup.owners()).toBe(lookup.owners());
    lookup.track([wanted("Job", "j")]);
    expect(lookup.pending).toBe(0);
  });

  it("are read again when they are old, and forgotten when no pod needs them", async () => {
    lookup.track([wanted("Job", "j")]);
    answer(await api.next(), 200, metadataOf("j"));
    await lookup.idle();
    clock.advance(defaultOwnerLimits.maxAgeSeconds / 2);
    lookup.track([wanted("Job", "j")]);
    answer(await expectCall("/apis/batch/v1/namespaces/ns/jobs/j"), 200, metadataOf("j"));
    await lookup.idle();
    lookup.track([]);
    expect(found()).toBe("");
  });

  it("are read again sooner where they say how far the work is", async () => {
    const metadata = { name: "j", namespace: "ns", uid: "j", annotations: { "fairlead.dev/progress-units": "7" } };
    lookup.track([wanted("Job", "j"), wanted("Job", "k")]);
    answer(await expectCall("/apis/batch/v1/namespaces/ns/jobs/j"), 200, { metadata });
    answer(await expectCall("/apis/batch/v1/namespaces/ns/jobs/k"), 200, metadataOf("k"));
    await lookup.idle();
    clock.advance(defaultOwnerLimits.maxProgressAgeSeconds / 2);
    lookup.track([wanted("Job", "j"), wanted("Job", "k")]);
    answer(await expectCall("/apis/batch/v1/namespaces/ns/jobs/j"), 200, { metadata });
    await lookup.idle();
    await expectNoCall();
  });

  it("are read whole where they are Jobs of Kubernetes, and again soon, since the number of their lost pods changes", async () => {
    const job = (failed: number) => ({
      kind: "Job",
      metadata: { name: "j", namespace: "ns", uid: "j" },
      spec: { backoffLimit: 3, template: { spec: {} } },
      status: { failed },
    });
    const failedPods = () => lookup.owners().map((owner) => owner.job?.failed ?? null);
    lookup.track([wanted("Job", "j"), wanted("Job", "v", "batch.volcano.sh/v1alpha1")]);
    const call = await expectCall("/apis/batch/v1/namespaces/ns/jobs/j");
    expect(call.accept).toBe("application/json");
    answer(call, 200, job(0));
    const ofVolcano = await expectCall("/apis/batch.volcano.sh/v1alpha1/namespaces/ns/jobs/v");
    expect(ofVolcano.accept).toBe("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    answer(ofVolcano, 200, metadataOf("v"));
    await lookup.idle();
    expect(failedPods()).toEqual([0, null]);
    const before = lookup.owners();
    for (const failed of [0, 2]) {
      clock.advance(defaultOwnerLimits.maxProgressAgeSeconds / 2);
      lookup.track([wanted("Job", "j"), wanted("Job", "v", "batch.volcano.sh/v1alpha1")]);
      answer(await expectCall("/apis/batch/v1/namespaces/ns/jobs/j"), 200, job(failed));
      await lookup.idle();
      if (failed === 0) expect(lookup.owners()).toBe(before);
    }
    expect(failedPods()).toEqual([2, null]);
    await expectNoCall();
  });

  it("that change all the time are read again later where there are many, and never later than the others", async () => {
    await lookup.stop();
    const limits = { ...defaultOwnerLimits, maxAgeSeconds: 800, maxProgressAgeSeconds: 100, rereadsPerSecond: 0.005 };
    lookup = createOwnerLookup(api.client, clock, () => 0, limits);
    const job = (uid: string) => ({ metadata: { name: uid, namespace: "ns", uid }, spec: {} });
    const track = () => lookup.track([wanted("Job", "a"), wanted("Job", "b")]);
    track();
    for (const uid of ["a", "b"]) answer(await expectCall(`/apis/batch/v1/namespaces/ns/jobs/${uid}`), 200, job(uid));
    await lookup.idle();
    clock.advance(190);
    track();
    expect(lookup.pending).toBe(0);
    clock.advance(10);
    track();
    for (const uid of ["a", "b"]) answer(await expectCall(`/apis/batch/v1/namespaces/ns/jobs/${uid}`), 200, job(uid));
    await lookup.idle();
    expect(found()).toBe("Job/a,Job/b");
  });

  it("may be pods: the chain of a LeaderWorkerSet passes through one", async () => {
    lookup.track([wanted("StatefulSet", "workers", "apps/v1")]);
    answer(await api.next(), 200, metadataOf("workers", wanted("Pod", "leader", "v1")));
    answer(await expectCall("/api/v1/namespaces/ns/pods/leader"), 200, metadataOf("leader"));
    await lookup.idle();
    expect(found()).toBe("Pod/leader,StatefulSet/workers");
  });

  it("of an unknown kind are found by discovery, once per group", async () => {
    lookup.track([wanted("Thing", "one", "things.example/v1"), wanted("Thing", "two", "things.example/v1")]);
    const resources = [{ name: "thingies", kind: "Thing", namespaced: true }];
    answer(await expectCall("/apis/things.example/v1"), 200, { resources });
    const calls = [await api.next(), await api.next()];
    expect(calls.map(({ path }) => path).sort()).toEqual([
      "/apis/things.example/v1/namespaces/ns/thingies/one",
      "/apis/things.example/v1/namespaces/ns/thingies/two",
    ]);
    for (const call of calls) answer(call, 200, metadataOf(call.path.endsWith("one") ? "one" : "two"));
    await lookup.idle();
    lookup.track([wanted("Thing", "three", "things.example/v1")]);
    answer(await expectCall("/apis/things.example/v1/namespaces/ns/thingies/three"), 200, metadataOf("three"));
    await lookup.idle();
    expect(found()).toBe("Thing/three");
  });

  it.each([
    ["is forbidden", 403, defaultOwnerLimits.forbiddenSeconds],
    ["is not found", 404, defaultOwnerLimits.unreadableSeconds / 2],
  ])("end where one %s, without a failure and for a while without another try", async (_, status, seconds) => {
    lookup.track([wanted("Job", "j")]);
    answer(await api.next(), status, { kind: "Status", message: "no" });
    await lookup.idle();
    expect([found(), lookup.lastFailure, lookup.pendingSince]).toEqual(["", null, null]);
    clock.advance(seconds - 1);
    lookup.track([wanted("Job", "j")]);
    expect(lookup.pending).toBe(0);
  });

  it("of a kind that is forbidden are not asked for one by one", async () => {
    lookup.track([wanted("Job", "a")]);
    answer(await api.next(), 403, { kind: "Status", message: "no" });
    await lookup.idle();
    lookup.track([wanted("Job", "a"), wanted("Job", "b"), wanted("ReplicaSet", "r", "apps/v1")]);
    answer(await expectCall("/apis/apps/v1/namespaces/ns/replicasets/r"), 200, metadataOf("r"));
    await lookup.idle();
    expect(found()).toBe("ReplicaSet/r");
    expect(lookup.forbidden).toEqual(["jobs.batch"]);
  });

  it("of a kind that is forbidden are read once that is allowed, however many have come since", async () => {
    const { forbiddenSeconds } = defaultOwnerLimits;
    lookup.track([wanted("Job", "a")]);
    answer(await api.next(), 403, { kind: "Status", message: "no" });
    await lookup.idle();
    clock.advance(forbiddenSeconds - 1);
    // The second is new: it is not asked for, and does not make the wait longer.
    lookup.track([wanted("Job", "a"), wanted("Job", "b")]);
    await lookup.idle(); // Nobody answers a request here: it would not come to rest.
    clock.advance(1);
    lookup.track([wanted("Job", "a"), wanted("Job", "b")]);
    for (const uid of ["a", "b"]) {
      answer(await expectCall(`/apis/batch/v1/namespaces/ns/jobs/${uid}`), 200, metadataOf(uid));
    }
    await lookup.idle();
    expect([found(), lookup.forbidden]).toEqual(["Job/a,Job/b", []]);
  });

  it("are not another object that has the same name now", async () => {
    lookup.track([wanted("Job", "old", "batch/v1", "j")]);
    answer(await expectCall("/apis/batch/v1/namespaces/ns/jobs/j"), 200, metadataOf("new"));
    await lookup.idle();
    expect(found()).toBe("");
  });

  it("are tried again after a failure, later each time", async () => {
    lookup.track([wanted("Job", "j")]);
    answer(await api.next(), 500, { kind: "Status", message: "etcd is gone" });
    await lookup.idle();
    expect(lookup.lastFailure).toBe("HTTP 500: etcd is gone");
    expect(lookup.pendingSince).toBe(0);
    lookup.track([wanted("Job", "j")]);
    expect(lookup.pending).toBe(0);
    clock.advance(1);
    lookup.track([wanted("Job", "j")]);
    answer(await api.next(), 200, metadataOf("j"));
    await lookup.idle();
    expect([found(), lookup.lastFailure, lookup.pendingSince]).toEqual(["Job/j", null, null]);
  });

  it("that own each other in a circle end", async () => {
    lookup.track([wanted("Job", "a")]);
    answer(await api.next(), 200, metadataOf("a", wanted("Job", "b")));
    answer(await api.next(), 200, metadataOf("b", wanted("Job", "a")));
    await lookup.idle();
    expect(found()).toBe("Job/a,Job/b");
  });

  it.each([
    ["a secret", wanted("Secret", "s", "v1")],
    ["a node", wanted("Node", "n", "v1")],
    ["a path in the name", wanted("Job", "x", "batch/v1", "../../secrets/s")],
    ["a path in the version", wanted("Job", "x", "batch/v1/../../v1")],
    ["a query in the version", wanted("Job", "x", "batch/v1?watch=1")],
    ["no group", wanted("Job", "x", "/v1")],
  ])("are never asked for by %s", async (_, reference) => {
    lookup.track([reference]);
    await lookup.idle();
    await expectNoCall();
  });
});
