import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { createAutoscalerStatus, readAutoscalerStatus } from "../../../exporter/sources/kubernetes/autoscalerStatus.ts";
import { createFakeClock, type FakeClock } from "./fakeClock.ts";
import { answer, type ScriptedApi, settled, startScriptedApi } from "./scriptedApi.ts";

/** As the autoscaler of 1.30 and later writes it (clusterstate/api/types.go; kubernetes/autoscaler#6375). */
const yamlStatus = (groups: string): string => `time: 2026-11-20 10:52:04.558615784 +0000 UTC
autoscalerStatus: Running
clusterWide:
  health:
    status: Healthy
    nodeCounts:
      registered: { total: 7, ready: 7, notStarted: 0 }
      longUnregistered: 0
    lastProbeTime: "2026-11-20T10:52:04.558615784Z"
nodeGroups:
${groups}`;

const twoGroups =
  yamlStatus(`- name: https://www.googleapis.com/compute/v1/projects/p/zones/z/instanceGroups/gke-c-gpu-40ce0341-grp
  health:
    status: Healthy
    cloudProviderTarget: 7
    minSize: 0
    maxSize: 12
  scaleUp:
    status: Backoff
    backoffInfo:
      errorCode: QUOTA_EXCEEDED
      errorMessage: "Instance creation failed: Quota 'GPUS' exceeded. Limit: 8.0 in region us-central1."
- name: sample
  health:
    status: Healthy
`);

/** As older ones wrote it (kubernetes/autoscaler#2287). */
const textStatus = `Cluster-autoscaler status at 2019-09-02 14:57:47.683724023 +0000 UTC:
Cluster-wide:
  Health:      Healthy (ready=2 unready=0 notStarted=0 longNotStarted=0 registered=2 longUnregistered=0)
               LastProbeTime:      2019-09-02 14:57:47.467422992 +0000 UTC m=+238.237952298
  ScaleUp:     InProgress (ready=2 registered=2)

NodeGroups:
  Name:        work-default-eks-spot1
  Health:      Healthy (ready=1 unready=0 notStarted=0 longNotStarted=0 registered=1 longUnregistered=0 cloudProviderTarget=1 (minSize=1, maxSize=7))
  ScaleUp:     NoActivity (ready=1 cloudProviderTarget=1)

  Name:        work-gpu
  Health:      Healthy (ready=0 unready=0 (resourceUnready=0) notStarted=0 registered=0 longUnregistered=0 cloudProviderTarget=0 (minSize=0, maxSize=3))
`;

describe("the status of the Cluster Autoscaler", () => {
  it("has node groups with their sizes; a size that is not there is not known", () => {
    expect(readAutoscalerStatus({ status: twoGroups })).toEqual({
      settings: [
        {
          name: "https://www.googleapis.com/compute/v1/projects/p/zones/z/instanceGroups/gke-c-gpu-40ce0341-grp",
          minSize: 0,
          maxSize: 12,
        },
        { name: "sample", minSize: null, maxSize: null },
      ],
      odd: null,
    });
  });

  it("is read in the form that it had before 1.30, too", () => {
    expect(readAutoscalerStatus({ status: textStatus })).toEqual({
      settings: [
        { name: "work-default-eks-spot1", minSize: 1, maxSize: 7 },
        { name: "work-gpu", minSize: 0, maxSize: 3 },
      ],
      odd: null,
    });
  });

  it("of one that is starting has no groups, which is not odd", () => {
    const starting = "time: 2026-11-20 10:52:04 +0000 UTC\nautoscalerStatus: Initializing\n";
    expect(readAutoscalerStatus({ status: starting })).toEqual({ settings: [], odd: null });
  });

  it.each([
    ["no key", {}, "has no key status"],
    ["an inherited key", Object.create({ status: twoGroups }), "has no key status"],
    ["something else", { status: "hello" }, "has no status of the Cluster Autoscaler"],
    ["too much of it", { status: "x".repeat(1024 * 1024 + 1) }, "larger"],
  ])("with %s is odd", (_what, data, odd) => {
    expect(readAutoscalerStatus(data)).toEqual({ settings: null, odd: expect.stringContaining(odd) });
  });

  it("passes over groups that are none, and sizes that cannot be", () => {
    const hostile = yamlStatus(`- 7
- name: ""
  health:
    minSize: 1
- name: a
  health:
    minSize: -1
    maxSize: 1e99
- health: []
  scaleUp:
    backoffInfo:
      errorMessage: "no
        minSize: 3"
  name: 'it''s b'
- name: "c
`);
    expect(readAutoscalerStatus({ status: hostile }).settings).toEqual([
      { name: "a", minSize: null, maxSize: null },
      { name: "it's b", minSize: null, maxSize: null },
    ]);
  });

  it("has the same groups as a YAML parser finds in it", () => {
    const size = fc.option(fc.integer({ min: 0, max: 5000 }), { nil: undefined });
    const name = fc.stringMatching(/^[\w./:-]{1,30}$/);
    const group = fc.record({
      name,
      minSize: size,
      maxSize: size,
      message: fc.string({ maxLength: 200 }),
      isSorted: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(group, { maxLength: 8 }), fc.boolean(), (groups, indentSeq) => {
        const nodeGroups = groups.map(({ name: groupName, minSize, maxSize, message, isSorted }) => {
          const health = {
            status: "Healthy",
            nodeCounts: { registered: { total: 1 } },
            cloudProviderTarget: 8,
            minSize,
            maxSize,
          };
          const scaleUp = { status: "Backoff", backoffInfo: { errorCode: "minSize", errorMessage: message } };
          return isSorted ? { health, name: groupName, scaleUp } : { name: groupName, health, scaleUp };
        });
        const status = stringify({ time: "2026", autoscalerStatus: "Running", nodeGroups }, { indentSeq });
        const parsed: { readonly nodeGroups: typeof nodeGroups } = parse(status);
        expect(readAutoscalerStatus({ status }).settings).toEqual(
          parsed.nodeGroups.map((one) => ({
            name: String(one.name),
            minSize: one.health.minSize ?? null,
            maxSize: one.health.maxSize ?? null,
          })),
        );
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  it("keeps so many groups at most, and the beginnings of their names", () => {
    const many = Array.from({ length: 6000 }, (_, i) => `- name: g${i}${"x".repeat(i === 0 ? 2000 : 0)}\n`).join("");
    const groups = readAutoscalerStatus({ status: yamlStatus(many) }).settings;
    expect([groups?.length, groups?.[0]?.name.length]).toEqual([5000, 512]);
  });
});

describe("its reader", () => {
  const place = { namespace: "kube-system", name: "cluster-autoscaler-status" };
  let clock: FakeClock;
  let api: ScriptedApi;
  let reader: ReturnType<typeof createAutoscalerStatus>;

  async function startWith(status: number, body: object): Promise<void> {
    reader = createAutoscalerStatus(api.client, clock, place);
    const started = reader.start();
    const call = await api.next();
    expect(call.path).toBe("/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status");
    answer(call, status, body);
    await started;
  }

  beforeEach(async () => {
    clock = createFakeClock();
    api = await startScriptedApi(clock);
  });
  afterEach(async () => {
    await reader.stop();
    await api.close();
  });

  it("reads again each minute", async () => {
    await startWith(200, { data: { status: textStatus } });
    expect(reader.read()?.map(({ maxSize }) => maxSize)).toEqual([7, 3]);
    await settled("it waits", () => clock.timers().some((left) => left === 60));
    clock.advance(60);
    answer(await api.next(), 200, { data: { status: twoGroups } });
    await settled("it has read", () => reader.read()?.[0]?.maxSize === 12);
    expect(reader.problems()).toEqual([]);
  });

  it("that is not allowed to says what to allow", async () => {
    await startWith(403, { kind: "Status", status: "Failure", message: "configmaps is forbidden", code: 403 });
    expect(reader.read()).toBeNull();
    expect(reader.problems()).toMatchObject([
      {
        code: "autoscaler-status",
        subject: "configmap kube-system/cluster-autoscaler-status",
        nextStep: expect.stringContaining("resourceNames [cluster-autoscaler-status]"),
      },
    ]);
  });
});
