import { describe, expect, it } from "vitest";
import { withoutSecrets } from "../../../cli/capture/withoutSecrets.ts";

describe("objects without what may hold secrets", () => {
  it("lose environments, arguments and copies of themselves, wherever they are", () => {
    const container = { name: "main", image: "i", env: [{ name: "TOKEN", value: "s3cret" }], args: ["s3cret"] };
    const object = {
      metadata: {
        name: "a",
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": "s3cret", other: "kept" },
        managedFields: [{ manager: "s3cret", time: "2026-11-01T00:00:00Z" }, { manager: "s3cret" }],
      },
      spec: {
        template: { spec: { initContainers: [container], containers: [{ ...container, command: ["s3cret"] }] } },
      },
    };
    expect(withoutSecrets(object)).toEqual({
      metadata: { name: "a", annotations: { other: "kept" }, managedFields: [{ time: "2026-11-01T00:00:00Z" }] },
      spec: {
        template: {
          spec: { initContainers: [{ name: "main", image: "i" }], containers: [{ name: "main", image: "i" }] },
        },
      },
    });
  });
});
