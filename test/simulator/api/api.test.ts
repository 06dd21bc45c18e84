import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { demoScenario } from "../../../simulator/scenarios/demo.ts";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import {
  getFailure,
  getList,
  getText,
  kubeObject,
  kubeStatus,
  listPaths,
  openWatch,
  type SeenObject,
  type WatchEvent,
} from "../apiClient.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ scenario: demoScenario(), seed: 3, startAt: 1_795_000_000 });
});
afterAll(() => simulator.stop());

const url = (path: string): string => `${simulator.apiUrl}${path}`;
const keyOf = (object: SeenObject): string => `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
const objectOf = (event: WatchEvent | undefined): SeenObject => kubeObject.parse(event?.object);

/** Plays watch events onto a list, as a client's cache does. */
function play(list: readonly SeenObject[], events: readonly WatchEvent[]): readonly string[] {
  const cache = new Map(list.map((object) => [keyOf(object), object.metadata.resourceVersion]));
  for (const event of events) {
    if (event.type === "BOOKMARK") continue;
    const object = objectOf(event);
    if (event.type === "DELETED") cache.delete(keyOf(object));
    else cache.set(keyOf(object), object.metadata.resourceVersion);
  }
  return [...cache].map(([key, version]) => `${key}@${version}`).sort();
}

describe("the simulated API's reads", () => {
  it("discovers every resource that can be listed", async () => {
    for (const path of listPaths) {
      const cut = path.lastIndexOf("/");
      const resources: unknown = JSON.parse(await getText(url(path.slice(0, cut))));
      expect(resources).toMatchObject({ kind: "APIResourceList" });
      expect(JSON.stringify(resources)).toContain(`"name":"${path.slice(cut + 1)}"`);
    }
    expect(await getText(url("/apis"))).toContain('"name":"resource.k8s.io"');
    expect(await getText(url("/api"))).toContain('"versions":["v1"]');
  });

  it("pages a list without losing, repeating or mixing moments", async () => {
    const whole = await getList(url("/api/v1/pods"));
    const first = await getList(url("/api/v1/pods?limit=7"));
    expect(first.metadata.remainingItemCount).toBe(whole.items.length - 7);
    simulator.advance(300);
    const items = [...first.items];
    let token = first.metadata.continue;
    while (token !== undefined) {
      const next = await getList(url(`/api/v1/pods?limit=7&continue=${token}`));
      expect(next.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      items.push(...next.items);
      token = next.metadata.continue;
    }
    expect(items).toEqual(whole.items);
  });

  it("names kinds as a real server does: in lists of custom resources, not of built-in ones", async () => {
    const [pod] = (await getList(url("/api/v1/pods"))).items;
    const [jobSet] = (await getList(url("/apis/jobset.x-k8s.io/v1alpha2/jobsets"))).items;
    expect(pod?.kind).toBeUndefined();
    expect(jobSet).toMatchObject({ kind: "JobSet", apiVersion: "jobset.x-k8s.io/v1alpha2" });
    const single: unknown = await (await fetch(url(`/api/v1/nodes/h100-01`))).json();
    expect(single).toMatchObject({ kind: "Node", apiVersion: "v1", metadata: { name: "h100-01" } });
  });

  it("selects by labels and fields", async () => {
    const exporters = await getList(
      url("/api/v1/namespaces/gpu-operator/pods?labelSelector=app%3Dnvidia-dcgm-exporter"),
    );
    expect(exporters.items).toHaveLength(24);
    const here = await getList(url("/api/v1/pods?fieldSelector=spec.nodeName%3Da100-06"));
    expect(here.items.length).toBeGreaterThan(1);
    expect(here.items.every((pod) => Reflect.get(Object(pod.spec), "nodeName") === "a100-06")).toBe(true);
    const teams = await getList(url("/api/v1/namespaces?labelSelector=team%20in%20(ads,vision),!missing"));
    expect(teams.items.map((ns) => ns.metadata.name)).toEqual(["ads-train", "vision-train"]);
    const without = await getList(url("/api/v1/namespaces?labelSelector=!team"));
    expect(without.items.map((ns) => ns.metadata.name)).toContain("scratch");
    expect((await getFailure(url("/api/v1/pods?fieldSelector=spec.colour%3Dred"))).status.reason).toBe("BadRequest");
  });

  it("gives metadata only when asked, and refuses what it cannot write", async () => {
    const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    const [jobSet] = (await getList(url("/apis/jobset.x-k8s.io/v1alpha2/jobsets"))).items;
    const path = `/apis/jobset.x-k8s.io/v1alpha2/namespaces/${jobSet?.metadata.namespace}/jobsets/${jobSet?.metadata.name}`;
    const partial: unknown = await (await fetch(url(path), { headers: { accept } })).json();
    expect(partial).toEqual({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: jobSet?.metadata,
    });
    const protobuf = await fetch(url("/api/v1/pods"), { headers: { accept: "application/vnd.kubernetes.protobuf" } });
    expect(protobuf.status).toBe(406);
    const either = await fetch(url("/api/v1/pods"), {
      headers: { accept: "application/vnd.kubernetes.protobuf, application/json" },
    });
    expect(either.headers.get("content-type")).toBe("application/json");
  });

  it("answers 404 as a real server does", async () => {
    const pod = await getFailure(url("/api/v1/namespaces/default/pods/nobody"));
    expect(pod).toMatchObject({ http: 404, status: { reason: "NotFound", message: 'pods "nobody" not found' } });
    const jobSet = await getFailure(url("/apis/jobset.x-k8s.io/v1alpha2/namespaces/x/jobsets/y"));
    expect(jobSet.status.details).toEqual({ name: "y", group: "jobset.x-k8s.io", kind: "jobsets" });
    const unknown = await fetch(url("/apis/kueue.x-k8s.io/v1beta1/workloads"));
    expect([unknown.status, await unknown.text()]).toEqual([404, "404 page not found\n"]);
  });

  it("lets every pod's chain of owners be walked to its end", async () => {
    const { items } = await getList(url("/api/v1/pods"));
    const tops = new Set<string>();
    for (const pod of items) {
      let owner = pod.metadata.ownerReferences?.[0];
      while (owner !== undefined) {
        const path = ownerPath(owner.apiVersion, owner.kind, pod.metadata.namespace ?? "", owner.name);
        const found = kubeObject.parse(await (await fetch(url(path))).json());
        expect(found.metadata.uid).toBe(owner.uid);
        const next = found.metadata.ownerReferences?.[0];
        if (next === undefined) tops.add(owner.kind);
        owner = next;
      }
    }
    expect([...tops].sort()).toEqual(
      ["DaemonSet", "Deployment", "Job", "JobSet", "LeaderWorkerSet", "Notebook", "PyTorchJob", "StatefulSet"].sort(),
    );
  });
});

function ownerPath(apiVersion: string, kind: string, namespace: string, name: string): string {
  const root = apiVersion.includes("/") ? "apis" : "api";
  return `/${root}/${apiVersion}/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
}

describe("the simulated API's watches", () => {
  it("continue a list without a gap and end each advance with a bookmark", async () => {
    const list = await getList(url("/api/v1/pods"));
    const version = list.metadata.resourceVersion;
    const watch = await openWatch(url(`/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=${version}`));
    simulator.advance(900);
    const events = await watch.readUntil("BOOKMARK");
    await watch.close();
    expect(new Set(events.map((event) => event.type))).toEqual(new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]));
    expect(objectOf(events.at(-1)).metadata.resourceVersion).toBe(simulator.resourceVersion());
    expect(play(list.items, events)).toEqual(play((await getList(url("/api/v1/pods"))).items, []));
  });

  it("resume with exactly the events that an unbroken watch got", async () => {
    const path = `/api/v1/pods?watch=1&allowWatchBookmarks=1&resourceVersion=${simulator.resourceVersion()}`;
    const unbroken = await openWatch(url(path));
    simulator.advance(600);
    const seen = (await unbroken.readUntil("BOOKMARK")).slice(0, -1);
    await unbroken.close();
    expect(seen.length).toBeGreaterThan(3);
    // From the very start, and from the first event on.
    for (const skipped of [0, 1]) {
      const last = skipped === 0 ? null : objectOf(seen[0]).metadata.resourceVersion;
      const resumed = await openWatch(url(last === null ? path : path.replace(/\d+$/, last ?? "")));
      simulator.advance(0);
      expect((await resumed.readUntil("BOOKMARK")).slice(0, -1)).toEqual(seen.slice(skipped));
      await resumed.close();
    }
  });

  it("begin with a bookmark where they missed time in which nothing of their kind changed", async () => {
    const version = simulator.resourceVersion();
    simulator.advance(60);
    expect(simulator.resourceVersion()).not.toBe(version);
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${version}`;
    const watch = await openWatch(url(`/apis/resource.k8s.io/v1/resourceclaims?${query}`));
    // Nothing goes on meanwhile: the bookmark comes by itself.
    const events = await watch.readUntil("BOOKMARK");
    expect(objectOf(events.at(-1)).metadata.resourceVersion).toBe(simulator.resourceVersion());
    await watch.close();
  });

  it("send no bookmark unless asked, and stop at timeoutSeconds", async () => {
    const version = simulator.resourceVersion();
    const watch = await openWatch(url(`/api/v1/pods?watch=true&timeoutSeconds=1&resourceVersion=${version}`));
    simulator.advance(300);
    const events = await watch.readToEnd();
    expect(events.length).toBeGreaterThan(0);
    expect(events.some((event) => event.type === "BOOKMARK")).toBe(false);
  });

  it("stream an initial list with its end marked", async () => {
    const query = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    const watch = await openWatch(url(`/api/v1/nodes?${query}`));
    const events = await watch.readUntil("BOOKMARK");
    await watch.close();
    expect(events.filter((event) => event.type === "ADDED")).toHaveLength(24);
    expect(objectOf(events.at(-1)).metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
  });

  it("inform a watch with a selector that an object came or went", async () => {
    const version = simulator.resourceVersion();
    const running = "fieldSelector=status.phase%3DRunning&allowWatchBookmarks=true";
    const watch = await openWatch(
      url(`/api/v1/namespaces/vision-train/pods?watch=true&${running}&resourceVersion=${version}`),
    );
    simulator.advance(900);
    const events = await watch.readUntil("BOOKMARK");
    await watch.close();
    const phases = (type: string): Set<unknown> =>
      new Set(events.filter((e) => e.type === type).map((e) => Reflect.get(Object(objectOf(e).status), "phase")));
    expect(phases("ADDED")).toEqual(new Set(["Running"]));
    expect([...phases("DELETED")]).toContain("Succeeded");
  });

  it("answer 410 as an event when the history does not reach back", async () => {
    const version = simulator.resourceVersion();
    simulator.advance(300);
    simulator.compact();
    const watch = await openWatch(url(`/api/v1/pods?watch=true&resourceVersion=${version}`));
    const [event, ...rest] = await watch.readToEnd();
    expect(rest).toEqual([]);
    expect(event?.type).toBe("ERROR");
    expect(kubeStatus.parse(event?.object)).toMatchObject({ code: 410, reason: "Expired" });
  });
});
