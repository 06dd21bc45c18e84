import { describe, expect, it } from "vitest";
import { type Config, configSchema } from "../../../exporter/config/schema.ts";
import { chatMessage, postFormats } from "../../../review/chat/chatMessage.ts";
import { digestLines, digestName } from "../../../review/digest/digestLines.ts";
import { type DigestedWorkload, idleDigests } from "../../../review/digest/idleDigests.ts";
import { hostileNames } from "../hostileReview.ts";

/** A Monday. */
const now = Date.parse("2026-11-23T08:00:00Z");
const friday = "2026-11-20T14:05:00.000Z";

type Idle = DigestedWorkload["idle"][number];

const a100 = (parts: Partial<Idle> = {}): Idle => ({
  model: "A100",
  reason: "no-activity",
  gpus: 2,
  since: friday,
  costs: [{ currency: "USD", perHour: 6.875 }],
  unpricedGpus: 0,
  ...parts,
});
const workload = (parts: Partial<DigestedWorkload> = {}): DigestedWorkload => ({
  kind: "Notebook",
  namespace: "ads",
  name: "big",
  team: "ads",
  owner: null,
  idle: [a100()],
  ...parts,
});
const digest = (parts: Record<string, unknown> = {}): Config["digest"] => configSchema.parse({ digest: parts }).digest;
const told = (workloads: readonly DigestedWorkload[], settings = digest(), at = now) =>
  idleDigests(workloads, settings, at).map((one) => digestLines(one, "harbor", at));

describe("the digest of idle GPUs", () => {
  it("says where it is no activity that is missing, but requests", () => {
    const lines = told([workload({ idle: [a100({ reason: "no-requests" })] })])[0];
    expect(lines?.[1]).toMatch(/Notebook ads\/big \(no request has come\)$/);
  });

  it("says how many GPUs of which model have been idle since when, and what they cost a day", () => {
    expect(told([workload()])).toEqual([
      [
        "Idle GPUs of team ads in harbor: 2 GPUs, $ 165 a day",
        "2 A100 idle since Friday 2026-11-20 14:05 UTC (2 d 17 h), $ 165 a day: Notebook ads/big",
        "Next step: end or scale down what is not needed; fairlead explain workload NAMESPACE/KIND/NAME says why it counts as idle.",
      ],
    ]);
  });

  it("is for nobody where nothing is idle, or not for long enough", () => {
    expect(told([])).toEqual([]);
    expect(told([workload({ idle: [] })])).toEqual([]);
    const sunday = workload({ idle: [a100({ since: "2026-11-22T09:00:00Z" })] });
    expect(told([sunday])).toEqual([]);
    expect(told([sunday], digest({ minIdleHours: 23 }))).toHaveLength(1);
  });

  it("says of prices that are unknown that they are, and adds up each currency", () => {
    const free = a100({ costs: [], unpricedGpus: 2 });
    expect(told([workload({ idle: [free] })])[0]?.slice(0, 2)).toEqual([
      "Idle GPUs of team ads in harbor: 2 GPUs, price unknown",
      expect.stringContaining("price unknown: Notebook"),
    ]);
    const euros = a100({ model: "H100", gpus: 1, costs: [{ currency: "EUR", perHour: 2 }] });
    expect(told([workload({ idle: [a100(), free, euros] })])[0]?.[0]).toBe(
      "Idle GPUs of team ads in harbor: 5 GPUs, EUR 48.00 a day + $ 165 a day, and 2 of unknown price",
    );
  });

  it("is one for each owner, else for the team, those with most idle GPU time first", () => {
    const digests = idleDigests(
      [
        workload({ team: "small", idle: [a100({ gpus: 0.5 })] }),
        workload({ owner: "ann" }),
        workload({ owner: "ann", name: "other" }),
        workload({ team: "ann" }),
      ],
      digest(),
      now,
    );
    expect(digests.map((one) => [digestName(one), one.idle.length])).toEqual([
      ["owner ann", 2],
      ["team ann", 1],
      ["team small", 1],
    ]);
  });

  it("goes to the owner's channel, else to the team's, else to the default one, and to none that is not configured", () => {
    const settings = digest({
      channels: [
        { channel: "ann", owners: ["ann"] },
        { channel: "ads", teams: ["ads", "bob"] },
      ],
    });
    const channels = (given: Config["digest"], ...workloads: readonly DigestedWorkload[]) =>
      idleDigests(workloads, given, now).map((one) => [digestName(one), one.channel]);
    const ann = workload({ owner: "ann", team: "search" });
    const bob = [workload({ owner: "bob" }), workload({ owner: "bob", team: "search", idle: [a100({ gpus: 1 })] })];
    expect(channels(settings, ann, workload())).toEqual([
      ["team ads", "ads"],
      ["owner ann", "ann"],
    ]);
    // No channel shows the work of a team that has another one.
    expect(channels(settings, ...bob)).toEqual([
      ["owner bob", "ads"],
      ["owner bob", null],
    ]);
    expect(channels({ ...settings, defaultChannel: "all" }, ...bob)[1]).toEqual(["owner bob", "all"]);
  });

  it.each(["../secret", "a/b", "", ".", "..data", "a".repeat(101), "a\nb"])("has no channel %j", (channel) => {
    expect(configSchema.safeParse({ digest: { defaultChannel: channel } }).success).toBe(false);
  });

  it("is bounded, and says what it leaves out", () => {
    const many = Array.from({ length: 500 }, (_, i) => workload({ name: `n${i}`, idle: [a100({ gpus: 1 })] }));
    const [lines = []] = told(many);
    expect(lines).toHaveLength(13);
    expect(lines[11]).toBe("and in 490 more workloads: 490 GPUs, $ 80.9k a day");
  });

  it("takes no name of the cluster for markup, a link, a mention or another line", () => {
    const workloads = hostileNames.map((name) =>
      workload({ kind: name, namespace: name, name, team: name, idle: [a100({ model: name })] }),
    );
    for (const lines of told(workloads)) {
      for (const line of lines) expect(line).toMatch(/^[^\p{Cc}<>*`|]*$/u);
      expect(lines.join("\n")).not.toMatch(/@channel|\]\(https|:\/\//);
      for (const format of postFormats)
        expect(JSON.stringify(chatMessage(format, { lines, url: null })).length).toBeLessThan(20_000);
    }
  });
});
