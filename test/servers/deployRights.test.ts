import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { createKubernetesSource } from "../../exporter/sources/kubernetes/kubernetesSource.ts";
import { resourceName } from "../../exporter/sources/kubernetes/rights.ts";
import { gpus, type RightsCluster, splitRule, startRightsCluster } from "./deployRightsCluster.ts";
import { account, groupOf, ownerName, ownersOfAllKinds, topName, workNamespace } from "./deployRightsObjects.ts";
import { type Removal, removals } from "./deployRightsRemovals.ts";
import { type Asker, createAsker, everyQuestion } from "./deployRightsReviews.ts";
import { type ServedPages, serveWith } from "./deployRightsServe.ts";
import { gpuPodObject, until } from "./kubernetesAdmin.ts";
import { sampleValues } from "./queues/samples.ts";

/** The rights that are shipped, on a real API server with a token of the ServiceAccount that is shipped. */
let cluster: RightsCluster;
let token: string;
let folder: string;
let fairlead: Asker;
/** A ServiceAccount that is bound to nothing: what every account may do. */
let anybody: Asker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairlead-deploy-"));
  cluster = await startRightsCluster();
  token = await cluster.tokenOf(account);
  fairlead = await createAsker(cluster.server, token, folder);
  const nobody = { namespace: workNamespace, name: "nobody" };
  await cluster.admin.send("POST", `/api/v1/namespaces/${workNamespace}/serviceaccounts`, { metadata: nobody });
  anybody = await createAsker(cluster.server, await cluster.tokenOf(nobody), await mkdtemp(join(folder, "nobody-")));
}, 300_000);

afterAll(async () => {
  await fairlead?.close();
  await anybody?.close();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

const problemsAnswer = z.looseObject({
  items: z.array(
    z.looseObject({
      source: z.string(),
      code: z.string(),
      subject: z.string().nullable(),
      message: z.string(),
      nextStep: z.string(),
    }),
  ),
});
const workloadsAnswer = z.looseObject({ items: z.array(z.looseObject({ kind: z.string(), name: z.string() })) });

async function apiProblems(served: ServedPages) {
  return problemsAnswer
    .parse(JSON.parse(await served.page("/api/v1/problems")))
    .items.filter(({ source }) => source === "kubernetes");
}

/** `verb resource` of each part of each rule that is shipped, sorted. */
function shippedRights(): readonly string[] {
  const rules = cluster.shipped.flatMap(({ rules }) => rules ?? []).flatMap(splitRule);
  const texts = rules.map(
    ({ verbs: [verb = ""], apiGroups: [group = ""], resources: [resource = ""] }) =>
      `${verb} ${resourceName(group, resource)}`,
  );
  return [...new Set(texts)].sort();
}

/** Rights that no run here uses, with the reason. */
const unused: Readonly<Record<string, string>> = {
  "get clusterqueues/pendingworkloads.visibility.kueue.x-k8s.io": "Kueue itself serves it, and does not run here",
};

describe("the rights that are shipped", () => {
  it("are what Fairlead needs and uses, each of them", async () => {
    const served = await serveWith(cluster.server, token, folder);
    try {
      await until("ready", async () => (await served.status("/readyz")) === 200);
      await until("the owners are read", async () => (await served.page("/api/v1/workloads")).includes('"total":1,'));
      expect(await apiProblems(served)).toEqual([]);
      const { items } = workloadsAnswer.parse(JSON.parse(await served.page("/api/v1/workloads")));
      expect(items).toMatchObject([{ kind: "Deployment", name: topName, gpus: ownersOfAllKinds.length }]);
      await until("all is watched", async () => {
        const watches = (await cluster.audited()).filter(({ verb }) => verb === "watch");
        return watches.length >= shippedRights().filter((right) => right.startsWith("watch ")).length;
      });
    } finally {
      expect(await served.stop()).toBe(0);
    }
    const requests = await cluster.audited();
    // Whether an API is there is asked of discovery.
    expect(requests.filter(({ status, resource }) => status !== 200 && !(status === 404 && resource === ""))).toEqual(
      [],
    );
    const used = new Set(
      requests.filter(({ resource }) => resource !== "").map((one) => `${one.verb} ${one.resource}`),
    );
    const rights = shippedRights();
    expect([...used].filter((one) => !rights.includes(one))).toEqual([]);
    expect(rights.filter((right) => !used.has(right))).toEqual(Object.keys(unused).sort());
  });

  it("change nothing: of all verbs on all resources, only these, beyond what every account has", async () => {
    const questions = await everyQuestion(cluster.server);
    expect(questions.length).toBeGreaterThan(1000);
    for (const namespace of ["", account.namespace]) {
      const allowed = await fairlead.allowed(namespace, questions);
      const common = await anybody.allowed(
        namespace,
        questions.filter(({ verb, group, resource }) => allowed.includes(`${verb} ${resourceName(group, resource)}`)),
      );
      expect(allowed.filter((one) => !common.includes(one)).sort()).toEqual(
        shippedRights().filter((right) => !(right in unused)),
      );
      // From Kubernetes 1.37 on every account may read the bundles of certificates that it is to trust.
      expect(common.filter((one) => !/^create self|clustertrustbundles/.test(one))).toEqual([]);
    }
    expect(shippedRights().filter((right) => !/^(get|list|watch) /.test(right))).toEqual([]);
  });
});

/** Verb, resource and subresource that a person would ask kubectl for first. */
const neverAllowed: readonly (readonly string[])[] = [
  ...["create", "update", "patch", "delete", "deletecollection"].flatMap((verb) =>
    ["pods", "nodes", "jobs.batch"].map((resource) => [verb, resource]),
  ),
  ...["get", "list", "watch"].flatMap((verb) => ["secrets", "configmaps"].map((resource) => [verb, resource])),
  ...["exec", "eviction", "portforward"].map((subresource) => ["create", "pods", subresource]),
  ["create", "serviceaccounts", "token"],
  ["get", "pods", "log"],
  ["get", "nodes", "proxy"],
  ["update", "clusterqueues.kueue.x-k8s.io"],
  ["patch", "queues.scheduling.run.ai"],
  ["create", "namespaces"],
  ["update", "leases.coordination.k8s.io"],
  ["escalate", "clusterroles.rbac.authorization.k8s.io"],
  ["bind", "clusterroles.rbac.authorization.k8s.io"],
  ["impersonate", "serviceaccounts"],
  ["*", "*"],
];

describe("kubectl, with the token that is shipped", () => {
  it("says no to every change and to Secrets and ConfigMaps, in any namespace", async () => {
    const ask = async (verb: string, resource: string, ...flags: readonly string[]) => {
      const { text, code } = await fairlead.kubectl("auth", "can-i", verb, resource, "--all-namespaces", ...flags);
      return [verb, resource, ...flags, text.trim().split("\n").at(-1), code];
    };
    for (const [verb = "", resource = "", subresource] of neverAllowed) {
      const flags = subresource === undefined ? [] : [`--subresource=${subresource}`];
      expect(await ask(verb, resource, ...flags)).toEqual([verb, resource, ...flags, "no", 1]);
    }
    expect(await ask("watch", "pods")).toEqual(["watch", "pods", "yes", 0]);
  });

  it.each(["default", "kube-system", account.namespace])("lists reading alone, in namespace %s", async (namespace) => {
    const rows = async (asker: Asker): Promise<readonly string[]> =>
      // Columns are as wide as the longest name that an account has.
      (await asker.kubectl("auth", "can-i", "--list", `--namespace=${namespace}`, "--no-headers")).text
        .split("\n")
        .map((row) => row.replace(/ +/g, " "));
    const common = new Set(await rows(anybody));
    const own = (await rows(fairlead)).filter((row) => !common.has(row));
    expect(own.length).toBeGreaterThan(10);
    expect(own.filter((row) => !/\[\] \[\] \[(get|list|watch)( (get|list|watch))*\]$/.test(row))).toEqual([]);
    expect([...common].filter((row) => /\[\*\]|secrets|configmaps/.test(row))).toEqual([]);
  });
});

describe("the API server", () => {
  it.each([
    ["GET", "/api/v1/secrets"],
    ["GET", "/api/v1/namespaces/fairlead/secrets/any"],
    ["GET", "/api/v1/configmaps?watch=1"],
    ["GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"],
    ["GET", "/api/v1/nodes/node-a/proxy/pods"],
    ["POST", "/api/v1/namespaces/work/pods?dryRun=All"],
    ["POST", "/api/v1/namespaces/work/pods/pod-of-job-batch/eviction"],
    ["POST", "/api/v1/namespaces/fairlead/serviceaccounts/fairlead/token"],
    ["PUT", "/apis/rbac.authorization.k8s.io/v1/clusterroles/fairlead"],
    ["DELETE", "/api/v1/nodes/node-a"],
    ["DELETE", "/apis/batch/v1/namespaces/work/jobs"],
  ] as const)("refuses %s %s", async (method, path) => {
    expect(await fairlead.status(method, path, method === "GET" ? undefined : {})).toBe(403);
  });
});

describe("without a right", () => {
  afterAll(async () => await cluster?.keepRights(() => true));

  it.each(removals)("Fairlead runs, and says what it lacks: $what", async (removal) => {
    const { code, resources, reported, right } = removal;
    await remove(removal);
    const served = await serveWith(cluster.server, token, folder);
    try {
      const lacking = resources.map(({ group, resource }) => resourceName(group, resource)).sort();
      await until("its log says what it lacks", () => served.log().split("Grant ").length > lacking.length);
      const problems = await apiProblems(served);
      expect(problems.map(({ subject }) => subject).sort()).toEqual(lacking);
      expect(new Set(problems.map((problem) => problem.code))).toEqual(new Set([code]));
      const page = (await served.page("/")).replace(/<\/?a\b[^>]*>/g, "");
      // Problems that are alike share a line: it names each subject, and the next step of the first.
      expect(problems.some(({ nextStep }) => page.includes(nextStep.split("'")[0] ?? ""))).toBe(true);
      for (const { subject, message, nextStep } of problems) {
        expect(message).toContain(`Fairlead may not ${reported} ${subject}`);
        expect(nextStep).toContain(`Grant ${reported} on ${subject} to Fairlead's service account`);
        expect(nextStep).toContain(
          right === null ? "the ClusterRole that comes with it" : `rbac.optional.${right}=true`,
        );
        expect(page).toContain(subject);
        expect(served.log()).toContain(JSON.stringify(nextStep));
      }
      const metrics = await served.page("/metrics");
      expect(sampleValues(metrics, "fairlead_problems", "code").get(code)).toBe(lacking.length);
      const series = metrics
        .split("\n")
        .filter((line) => line.startsWith("fairlead_"))
        .map((line) => line.replace(/ \S+$/, ""));
      expect(series.filter((one, index) => series.indexOf(one) !== index)).toEqual([]);
      const shown = [...sampleValues(metrics, "fairlead_gpus", "state").values()].reduce((sum, one) => sum + one, 0);
      expect(shown).toBe(lacking.includes("nodes") ? 0 : gpus);
      if (code === "owners-forbidden") expect(await workloadsOf(served)).toEqual(workloadsWithout(resources));
    } finally {
      expect(await served.stop()).toBe(0);
    }
  });

  it("Fairlead notices, while it runs, that one is taken away and that it is given again", async () => {
    await cluster.keepRights(() => true);
    const { server } = cluster;
    const access = async () => ({ headers: { authorization: `Bearer ${token}` }, tls: { ca: server.ca } });
    const client = createApiClient({ server: server.url, proxyUrl: null, access }, systemClock);
    const source = createKubernetesSource({
      client,
      exporters: [],
      gpuResources: [],
      maxAgeSeconds: 90,
      timing: { slowRetrySeconds: 1, watchSeconds: 1 },
      ownerLimits: { maxAgeSeconds: 1, forbiddenSeconds: 1 },
    });
    const subjects = (): readonly (string | null)[] => source.problems().map(({ subject }) => subject);
    try {
      await source.start();
      expect(subjects()).toEqual([]);
      const taken = ["clusterqueues", "statefulsets"];
      await cluster.keepRights((_verb, _group, resource) => !taken.includes(resource));
      // Owners are looked at each minute, and when a pod with GPUs comes.
      await createPod("comes-first");
      await until("both are missed", () => subjects().length === 2);
      expect(subjects()).toEqual(["clusterqueues.kueue.x-k8s.io", "statefulsets.apps"]);
      await cluster.keepRights(() => true);
      await createPod("comes-second");
      await until("none is missed", () => subjects().length === 0);
    } finally {
      await source.stop();
      await client.close();
    }
  });
});

async function createPod(name: string): Promise<void> {
  await cluster.admin.send("POST", `/api/v1/namespaces/${workNamespace}/pods`, gpuPodObject(name, 1));
}

/** Takes a right away, and only that; resolves when the API server goes by it. */
async function remove({ verbs, resources }: Removal): Promise<void> {
  const removed = resources.flatMap(({ group, resource }) => verbs.map((verb) => ({ verb, group, resource })));
  await cluster.keepRights((verb, group, resource) =>
    removed.every((one) => one.verb !== verb || one.group !== group || one.resource !== resource),
  );
  await until("the API server goes by it", async () => {
    const rights = await fairlead.allowed("", everyRemovedRight);
    return rights.length === everyRemovedRight.length - removed.length;
  });
}

const everyRemovedRight = removals.flatMap(({ verbs, resources }) =>
  resources.flatMap(({ group, resource }) => verbs.map((verb) => ({ verb, group, resource }))),
);

async function workloadsOf(served: ServedPages): Promise<readonly string[]> {
  const { items } = workloadsAnswer.parse(JSON.parse(await served.page("/api/v1/workloads")));
  return [...new Set(items.map(({ kind, name }) => `${kind} ${name}`))].sort();
}

/**
 * An owner that may not be read is the last of its chain; the others' chains go on to the Deployment above all. Pods with GPUs
 * are known from their watch, too.
 */
function workloadsWithout(resources: Removal["resources"]): readonly string[] {
  const last = ownersOfAllKinds.filter(({ apiVersion, plural }) =>
    resources.some(
      ({ group, resource }) => resource === plural && resource !== "pods" && group === groupOf(apiVersion),
    ),
  );
  return [`Deployment ${topName}`, ...last.map((owner) => `${owner.kind} ${ownerName(owner)}`)].sort();
}
