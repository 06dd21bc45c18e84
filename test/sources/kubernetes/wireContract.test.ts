import { describe, expect, it } from "vitest";
import { isRecord } from "../../../exporter/kernel/parseJson.ts";
import type { BodyFormat, WatchEvent } from "../../../exporter/sources/kubernetes/wire.ts";
import { captured, contentTypes, type FormatName, formatNames, formats } from "./wireSubjects.ts";

const lists = [
  ["nodes", formats.nodes, 3],
  ["pods", formats.pods, 27],
  ["namespaces", formats.namespaces, 7],
  ["priorityClasses", formats.priorityClasses, 4],
  ["podDisruptionBudgets", formats.podDisruptionBudgets, 3],
  ["resourceClaims", formats.resourceClaims, 2],
  ["resourceClaims.v1beta2", formats.resourceClaims, 2],
  ["resourceClaims.v1beta1", formats.resourceClaims, 2],
  ["resourceSlices", formats.resourceSlices, 2],
  ["resourceSlices.v1beta2", formats.resourceSlices, 2],
  ["resourceSlices.v1beta1", formats.resourceSlices, 2],
] as const;

/** The way that the source goes: what was asked for in protobuf, by the content type of the answer. */
function podFormat(format: FormatName): BodyFormat<unknown> {
  return formats.pods.protobuf.formatOf(contentTypes[format]);
}

/** Required affinity and tolerations of a pod with GPUs. */
function rulesOf(row: unknown): readonly object[] {
  if (!isRecord(row) || !isRecord(row.gpuPod)) return [];
  return [row.gpuPod.nodeAffinity, row.gpuPod.tolerations].filter((rule) => Array.isArray(rule));
}

function events(format: BodyFormat<unknown>, bytes: Buffer, chunkBytes = bytes.length): readonly WatchEvent<unknown>[] {
  const reader = format.createReader(1_000_000);
  const found: WatchEvent<unknown>[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    for (const frame of reader.push(bytes.subarray(at, at + chunkBytes)) ?? []) found.push(format.event(frame));
  }
  return found;
}

describe.each(formatNames)("a list in %s", (format) => {
  it.each(lists)("of %s has every object, each with its record", (name, { protobuf }, count) => {
    const page = protobuf.formatOf(contentTypes[format]).page(captured(name, format));
    if (!page.ok) throw new Error(page.message);
    expect(page.objects.length).toBe(count);
    expect(page.objects.filter(({ decoded }) => !decoded.ok)).toEqual([]);
    expect(page.resourceVersion).toMatch(/^\d+$/);
    expect(page.continueToken).toBeNull();
  });

  it("in pages says where the next one begins", () => {
    const page = podFormat(format).page(captured("page", format));
    if (!page.ok) throw new Error(page.message);
    expect(page.objects.length).toBe(3);
    expect(page.continueToken).toMatch(/^[\w-]{20,}$/);
  });

  it("without objects is a list", () => {
    expect(podFormat(format).page(captured("empty", format))).toMatchObject({ ok: true, objects: [] });
  });

  it.each([
    ["another kind", captured("nodes", format)],
    ["a status", captured("notFound", format)],
    ["nothing", Buffer.alloc(0)],
    ["the first half", captured("pods", format).subarray(0, 9000)],
    ["the other format", captured("pods", format === "json" ? "protobuf" : "json")],
  ])("is not %s", (what, body) => {
    const page = podFormat(format).page(body);
    // A list of another kind in JSON is known by the path alone.
    if (format === "json" && what === "another kind") expect(page.ok).toBe(true);
    else expect(page).toMatchObject({ ok: false, message: expect.stringMatching(/^the list /) });
  });
});

describe.each(formatNames)("a watch in %s", (format) => {
  it.each([1, 7, 1000, 1_000_000])("in chunks of %d bytes brings changes and removals", (chunkBytes) => {
    const found = events(podFormat(format), captured("watch", format), chunkBytes);
    expect(found.map(({ type }) => type)).toEqual(["put", "put", "put", "remove"]);
    const [added, modified, , removed] = found;
    if (added?.type !== "put" || modified?.type !== "put") throw new Error("no change");
    expect(added.object.decoded).toMatchObject({ ok: true, value: { pod: { phase: "Pending", cpuMilli: 100 } } });
    expect(modified.object.decoded).toMatchObject({ ok: true, value: { pod: { phase: "Running" } } });
    expect(added.object.uid).toBe(modified.object.uid);
    expect(removed).toMatchObject({ uid: expect.stringMatching(/^[\w-]{36}$/) });
  });

  it("brings bookmarks", () => {
    const found = events(podFormat(format), captured("watchInitial", format));
    expect(found.map(({ type }) => type)).toEqual(["put", "bookmark"]);
    expect(found[1]).toEqual({ type: "bookmark", resourceVersion: expect.stringMatching(/^\d+$/) });
  });

  it("of a version that is too old ends with 410", () => {
    const found = events(podFormat(format), captured("watchExpired", format));
    expect(found).toEqual([{ type: "error", code: 410, message: expect.stringMatching(/^too old resource version/) }]);
  });

  it("with an event larger than allowed is given up", () => {
    expect(podFormat(format).createReader(500).push(captured("watch", format))).toBeNull();
  });

  it("with a broken event says so", () => {
    const [frame = Buffer.alloc(0)] = podFormat(format).createReader(1_000_000).push(captured("watch", format)) ?? [];
    for (const broken of [Buffer.alloc(0), Buffer.from("garbage"), frame.subarray(0, frame.length - 1)]) {
      expect(podFormat(format).event(broken)).toMatchObject({ type: "malformed" });
    }
  });
});

describe("protobuf and JSON", () => {
  it.each(lists)("give the same list of %s", (name, { json, protobuf }) => {
    const expected = json.formatOf(null).page(captured(name, "json"));
    expect(protobuf.formatOf(contentTypes.protobuf).page(captured(name, "protobuf"))).toEqual(expected);
  });

  it("both say which object an exporter pod is, so that it can be restarted and no other", () => {
    const found = formatNames.map((format) => {
      const page = formats.pods[format].formatOf(contentTypes[format]).page(captured("pods", format));
      if (!page.ok) throw new Error(page.message);
      return page.objects.flatMap(({ uid, decoded }) =>
        decoded.ok && isRecord(decoded.value) && isRecord(decoded.value.exporterPod)
          ? [{ uid, exporterPod: decoded.value.exporterPod }]
          : [],
      );
    });
    expect(found[0]).toEqual(found[1]);
    expect(found[0]).toEqual([
      {
        uid: expect.stringMatching(/^[\w-]{36}$/),
        exporterPod: expect.objectContaining({ name: "nvidia-dcgm-exporter-abcde", uid: found[0]?.[0]?.uid }),
      },
    ]);
  });

  it("share what pods ask of their nodes, also with each other", () => {
    const rulesIn = (format: FormatName): readonly object[] => {
      const page = formats.pods[format].formatOf(contentTypes[format]).page(captured("pods", format));
      if (!page.ok) throw new Error(page.message);
      return page.objects.flatMap(({ decoded }) => (decoded.ok ? rulesOf(decoded.value) : []));
    };
    const rules = rulesIn("protobuf");
    expect(rules.length).toBe(34);
    // The same content is the same object: of tolerations those that the API server gives to all, and three others.
    expect(new Set(rules).size).toBe(4 + 3);
    expect(rulesIn("json").every((rule, index) => rule === rules[index])).toBe(true);
  });

  it.each(["watch", "watchInitial", "watchExpired"])("give the same events of %s", (name) => {
    const expected = events(formats.pods.json.formatOf(null), captured(name, "json"));
    expect(events(podFormat("protobuf"), captured(name, "protobuf"))).toEqual(expected);
  });

  it("are both asked for, protobuf first", () => {
    expect(formats.pods.protobuf.listAccept).toBe("application/vnd.kubernetes.protobuf, application/json");
    expect(formats.pods.protobuf.watchAccept).toBe(
      "application/vnd.kubernetes.protobuf;stream=watch, application/json",
    );
  });

  it.each([
    ["application/vnd.kubernetes.protobuf;stream=watch", "protobuf"],
    ["Application/vnd.Kubernetes.Protobuf; charset=x", "protobuf"],
    ["application/json;charset=utf-8", "json"],
    ["text/html", "json"],
    [null, "json"],
  ] as const)("are distinguished by %s", (contentType, format) => {
    expect(formats.pods.protobuf.formatOf(contentType)).toBe(podFormat(format));
  });
});
