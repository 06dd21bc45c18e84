import { describe, expect, test } from "vitest";
import type { AdviceLifecycle } from "../../../exporter/accounts/ledger/queryAdvice.ts";
import type { StoredAdviceDetail } from "../../../exporter/model/storedAdvice.ts";
import { whyMeasured } from "../../../review/build/whyMeasured.ts";

const takenAt = 1_795_000_000;

function lifecycle(own: Partial<AdviceLifecycle>, detail: Partial<StoredAdviceDetail> = {}): AdviceLifecycle {
  return {
    id: "r-1",
    kind: "release_idle",
    title: "t",
    state: "taken",
    firstSeenAt: takenAt - 3600,
    closedAt: takenAt,
    fromTeam: "ads",
    forTeam: "",
    queue: "",
    pool: "H100",
    gainedGpusWorst: 8,
    gainedGpusBest: 8,
    lostGpuHours: 0,
    measuredGpus: 0,
    measuredLostGpuHours: 0,
    detail: {
      reason: "",
      savingPerWeek: [],
      confidence: { level: "high", reasons: [] },
      guards: [],
      beneficiary: null,
      disruptedPods: 0,
      disruptedTeams: [],
      lostIsUpperBound: false,
      closedBecause: null,
      isMeasuredFinal: true,
      undone: null,
      act: "do",
      aftermath: null,
      ...detail,
    },
    ...own,
  };
}

describe("predicted 8, measured 0", () => {
  test.each([
    ["came-back", "it came back after 3 h (8 GPUs)"],
    ["evicted-again", "its pods were evicted again after 3 h (8 GPUs)"],
    ["changed-back", "someone took the setting back after 3 h (8 GPUs)"],
  ] as const)("because it was undone: %s", (how, why) => {
    expect(whyMeasured(lifecycle({}, { undone: { how, at: takenAt + 3 * 3600, gpus: 8 } }))).toBe(why);
  });

  test("because nobody took it, and what became of the work", () => {
    const of = (outcome: "came-back" | "evicted-again" | "stayed" | "ended") =>
      whyMeasured(
        lifecycle(
          { state: "expired", measuredGpus: null },
          { aftermath: { outcome, regretGpuHours: 0 }, undone: null },
        ),
      );
    expect(of("came-back")).toBe("the work that it named worked again by itself");
    expect(of("ended")).toBe("the work that it named ended by itself");
    expect(of("stayed")).toBe("what it named stayed as it was");
    expect(whyMeasured(lifecycle({ state: "dismissed", measuredGpus: null }))).toBeNull();
  });

  test("because the measurement goes on, or nobody measured", () => {
    expect(whyMeasured(lifecycle({}, { isMeasuredFinal: false }))).toBe("it is still being measured");
    expect(whyMeasured(lifecycle({ measuredGpus: null }, { isMeasuredFinal: null }))).toBe("nothing was measured yet");
  });

  test("for no reason that was seen is said, too; another version's record is not known", () => {
    expect(whyMeasured(lifecycle({}))).toBe("less was gained when it was measured; nothing undid it");
    expect(whyMeasured(lifecycle({ detail: null }))).toBe("not known: another version wrote it");
  });

  test("the twin that measured what was predicted needs no reason", () => {
    for (const measuredGpus of [7.7, 8, 12]) expect(whyMeasured(lifecycle({ measuredGpus }))).toBeNull();
    expect(whyMeasured(lifecycle({ measuredGpus: 7.5 }))).not.toBeNull();
  });
});
