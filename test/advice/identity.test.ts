import { describe, expect, test } from "vitest";
import { adviceId, type Needed, needOf } from "../../exporter/advice/identity.ts";

const released = (gpus: number): Needed["measuredBy"] => ({ kind: "work-released", work: [], gpus });

const reclaim: Needed = {
  kind: "reclaim",
  beneficiary: { kind: "queue", name: "search" },
  targets: ["Job ads/embed"],
  fromTeam: "ads",
  pool: "H100",
  signs: [],
  measuredBy: { kind: "work-started", work: [] },
};

const idle: Needed = {
  ...reclaim,
  kind: "release_idle",
  beneficiary: { kind: "team", name: "notebooks" },
  targets: ["Notebook notebooks/a", "Notebook notebooks/b"],
  fromTeam: "notebooks",
  measuredBy: released(0.5),
};

const isSame = (one: Needed, other: Needed): boolean => needOf(one) === needOf(other);

describe("the need of advice", () => {
  test("stays while what is to be done changes, and so does the id", () => {
    expect(isSame(reclaim, { ...reclaim, targets: ["Job ads/crawl"], fromTeam: "vision" })).toBe(true);
    expect(isSame(idle, { ...idle, targets: ["Notebook notebooks/c"], measuredBy: released(0.25) })).toBe(true);
    expect(isSame(idle, { ...idle, measuredBy: released(2.5) })).toBe(true);
    const node: Needed = { ...reclaim, kind: "fix_source", beneficiary: { kind: "node", name: "h100-02" } };
    expect(isSame(node, { ...node, targets: ["Pod gpu-operator/exporter-abcde"] })).toBe(true);
    expect(adviceId(needOf(reclaim))).toMatch(/^r-[0-9a-f]{10}$/);
  });

  test("is one for each queue in a pool, team in a pool, gang, node, node pool and finding", () => {
    expect(isSame(reclaim, { ...reclaim, beneficiary: { kind: "queue", name: "news" } })).toBe(false);
    expect(isSame(reclaim, { ...reclaim, pool: "A100" })).toBe(false);
    expect(isSame(reclaim, { ...reclaim, kind: "change_quota" })).toBe(false);
    expect(isSame(idle, { ...idle, fromTeam: "vision" })).toBe(false);
    const found = (code: string): Needed => ({
      ...reclaim,
      kind: "fix_scheduler",
      targets: ["ClusterQueue search"],
      signs: [{ kind: "finding-gone", code, objectKind: "ClusterQueue", name: "search" }],
    });
    expect(isSame(found("one"), found("other"))).toBe(false);
  });

  test("is the workload where each is advised about by itself", () => {
    const whole: Needed = { ...idle, targets: ["Job ads/a"], measuredBy: released(8) };
    expect(isSame(whole, { ...whole, targets: ["Job ads/b"] })).toBe(false);
    expect(isSame(whole, { ...whole, measuredBy: released(16), pool: "A100" })).toBe(true);
    const large: Needed = { ...whole, kind: "right_size" };
    expect(isSame(large, { ...large, targets: ["Job ads/b"] })).toBe(false);
  });

  test("is the deadlock, whichever of its gangs gains", () => {
    const need = ["deadlock", "H100"];
    const first: Needed = { ...reclaim, kind: "unblock_gang", need, beneficiary: { kind: "workload", name: "ads/a" } };
    expect(isSame(first, { ...first, beneficiary: { kind: "workload", name: "ads/b" } })).toBe(true);
    expect(isSame(first, { ...first, need: ["deadlock", "A100"] })).toBe(false);
  });
});
