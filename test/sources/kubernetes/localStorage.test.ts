import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { field, readPod } from "./protobuf/podBytes.ts";

const safeVolumes = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";

function hasLocalStorage(volumes: unknown, annotations: object = {}): boolean | undefined {
  const containers = [{ name: "c", resources: { limits: { "nvidia.com/gpu": "1" } } }];
  const decoded = decodePod({ metadata: { name: "p", uid: "u", annotations }, spec: { containers, volumes } });
  return decoded.ok ? decoded.value.gpuPod?.hasLocalStorage : undefined;
}

describe("a pod loses what it has on its node", () => {
  it.each([
    ["a hostPath", [{ name: "a", hostPath: { path: "/data" } }]],
    ["an emptyDir on disk", [{ name: "a", emptyDir: {} }]],
    ["an emptyDir with a size", [{ name: "a", emptyDir: { sizeLimit: "1Gi" } }]],
    ["huge pages", [{ name: "a", emptyDir: { medium: "HugePages-2Mi" } }]],
    [
      "one of several",
      [
        { name: "a", emptyDir: { medium: "Memory" } },
        { name: "b", emptyDir: {} },
      ],
    ],
  ])("in %s", (_, volumes) => {
    expect(hasLocalStorage(volumes)).toBe(true);
  });

  it.each([
    ["no volumes", undefined],
    ["memory", [{ name: "a", emptyDir: { medium: "Memory" } }]],
    ["a token", [{ name: "a", projected: { sources: [] } }]],
    ["a ConfigMap", [{ name: "a", configMap: { name: "c" } }]],
    ["a claim, wherever it is bound to", [{ name: "a", persistentVolumeClaim: { claimName: "c" } }]],
    ["an ephemeral claim", [{ name: "a", ephemeral: { volumeClaimTemplate: {} } }]],
    ["a volume of a driver", [{ name: "a", csi: { driver: "d" } }]],
  ])("but has nothing there in %s", (_, volumes) => {
    expect(hasLocalStorage(volumes)).toBe(false);
  });

  it("unless its author names every such volume, as the Cluster Autoscaler takes names: without trimming", () => {
    const volumes = [
      { name: "a", emptyDir: {} },
      { name: "b", hostPath: { path: "/b" } },
    ];
    const named = (names: string) => hasLocalStorage(volumes, { [safeVolumes]: names });
    expect([named("a,b"), named("b,x,a")]).toEqual([false, false]);
    expect([named(""), named("a"), named("a, b"), named("*")]).toEqual([true, true, true, true]);
  });

  it("where volumes are no volumes, is left out", () => {
    for (const volumes of [7, "x", {}, [null], ["a"], [{ name: "a", emptyDir: "x" }]])
      expect(hasLocalStorage(volumes)).toBeUndefined();
  });
});

interface WireVolume {
  readonly name: string;
  readonly source: "hostPath" | "emptyDir" | "secret" | "none";
  readonly medium: string | null;
  /** Writes its name behind its source. */
  readonly isReversed: boolean;
  /** Writes its source in two parts. */
  readonly isSplit: boolean;
}

const wireVolume: fc.Arbitrary<WireVolume> = fc.record({
  name: fc.constantFrom("a", "b", "c", ""),
  source: fc.constantFrom("hostPath", "emptyDir", "emptyDir", "secret", "none"),
  medium: fc.constantFrom(null, "", "Memory", "HugePages"),
  isReversed: fc.boolean(),
  isSplit: fc.constantFrom(false, false, false, true),
});

function volumeBytes({ name, source, medium, isReversed, isSplit }: WireVolume): Buffer {
  const emptyDir = (text: string | null) =>
    field(2, ...(text === null ? [] : [field(1, text)]), field(2, field(1, "1Gi")));
  const sources = {
    hostPath: [field(1, field(1, "/data"), field(2, "Directory"))],
    emptyDir: isSplit ? [emptyDir(medium), emptyDir("Memory")] : [emptyDir(medium)],
    secret: [field(6, field(1, "s"))],
    none: [],
  }[source];
  const whole = isSplit ? sources.map((part) => field(2, part)) : [field(2, ...sources)];
  return field(1, ...(isReversed ? [...whole, field(1, name)] : [field(1, name), ...whole]));
}

function inJson({ name, source, medium, isSplit }: WireVolume): object {
  const shown = isSplit ? "Memory" : medium;
  if (source === "hostPath") return { name, hostPath: { path: "/data" } };
  if (source === "emptyDir") return { name, emptyDir: shown ? { medium: shown } : {} };
  return source === "secret" ? { name, secret: { secretName: "s" } } : { name };
}

describe("volumes in protobuf", () => {
  it("say the same as in JSON", () => {
    const names = fc.constantFrom(null, "a", "a,b", "c,b,a", "");
    fc.assert(
      fc.property(fc.array(wireVolume, { maxLength: 4 }), names, fc.boolean(), (volumes, safe, isLate) => {
        const annotations = safe === null ? [] : [field(12, field(1, safeVolumes), field(2, safe))];
        const metadata = field(1, field(1, "p"), field(3, "ns"), field(5, "uid-p"), ...annotations);
        const limits = field(8, field(1, field(1, "nvidia.com/gpu"), field(2, field(1, "1"))));
        const spec = field(2, ...volumes.map(volumeBytes), field(2, field(1, "c"), limits));
        const bytes = Buffer.concat(isLate ? [spec, metadata] : [metadata, spec]);
        const json = hasLocalStorage(volumes.map(inJson), safe === null ? {} : { [safeVolumes]: safe });
        expect(readPod(bytes)?.gpuPod?.hasLocalStorage).toBe(json);
      }),
      { numRuns: 500, seed: 11 },
    );
  });
});
