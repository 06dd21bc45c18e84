import { describe, expect, it } from "vitest";
import { type Adviser, createAdviser } from "../../../exporter/advice/adviser.ts";
import { createAdviceLifecycle } from "../../../exporter/advice/lifecycle/adviceLifecycle.ts";
import type { LivingOffer } from "../../../exporter/advice/lifecycle/livingAdvice.ts";
import { aftermathOf } from "../../../exporter/advice/lifecycle/trackRecord.ts";
import { momentIndex } from "../../../exporter/advice/momentIndex.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { Advice, Recommendation } from "../../../exporter/model/recommendation.ts";
import type { StoredAdvice } from "../../../exporter/model/storedAdvice.ts";
import { gpuNode, now } from "../../join/clusterBuilder.ts";
import {
  adviceSettings,
  analysisAt,
  deployment,
  hour,
  pageAt,
  physicalGpu,
  podOf,
  replicaSet,
} from "../usage/watchedCluster.ts";
import { cycle, offer, settings, start, victims } from "./offers.ts";

const interval = 600;
const of = deployment("lab", { createdAt: now - 40 * hour });

/** A Deployment on eight GPUs since twenty hours, idle since `idleAt`; `null`: it works. */
function stateAt(at: number, idleAt: number | null, isThere: boolean): Partial<ClusterState> {
  const parts = { createdAt: now - 20 * hour, scheduledAt: now - 20 * hour };
  const physicalGpus = Array.from({ length: 8 }, (_, i) => physicalGpu(`GPU-${i}`, idleAt === null ? 0.9 : 0, "lab-0"));
  return {
    nodes: [gpuNode("n1", 8)],
    owners: [of, replicaSet(of)],
    pods: isThere ? [podOf(of, "lab-0", "n1", 8, parts)] : [],
    telemetry: [pageAt("n1", isThere ? physicalGpus : [], at)],
  };
}

/** Plays hours of the adviser from `from`, cycle by cycle. */
function play(adviser: Adviser, from: number, hours: number, idleAt: number | null, isThere = true): Advice {
  let advice = adviser.latest();
  for (let at = from; at < from + hours * hour; at += interval) {
    const idleSince = new Map(
      idleAt === null ? [] : Array.from({ length: 8 }, (_, i) => [`n1/GPU-${i}`, idleAt] as const),
    );
    const analysis = analysisAt(stateAt(at, idleAt, isThere), at, { idleSince });
    advice = adviser.advise(analysis);
  }
  return advice;
}

const newAdviser = (stored: readonly StoredAdvice[] = []) =>
  createAdviser({ ...adviceSettings, standingCycles: 1 }, interval, stored);

const idleAt = now - 2 * hour;

function first({ recommendations }: Advice): Recommendation {
  const [one] = recommendations.filter(({ kind }) => kind === "release_idle");
  if (one === undefined) throw new Error("nothing was advised");
  return one;
}

describe("idle work that was asked about", () => {
  it("and came back by itself makes the recommendation wrong, and what it would have cost is regretted", () => {
    const adviser = newAdviser();
    const shown = first(play(adviser, now, 1, idleAt));
    expect(shown).toMatchObject({ act: "ask", state: "open", aftermath: null });
    const after = play(adviser, now + hour, 1, null);
    const ended = first(after);
    expect(ended).toMatchObject({ state: "expired", aftermath: { outcome: "came-back", at: now + hour } });
    // What was lost when it was last shown: 8 GPUs since the start.
    expect(ended.aftermath?.regretGpuHours).toBeCloseTo(8 * (20 + 5 / 6) + 8 / 6, 6);
    expect(after.trackRecords).toEqual([
      {
        kind: "release_idle",
        act: "ask",
        regretGpuHours: ended.aftermath?.regretGpuHours,
        outcomes: { "came-back": 1, "evicted-again": 0, stayed: 0, ended: 0 },
      },
    ]);
  });

  it("and stayed idle for the horizon makes it right", () => {
    const adviser = newAdviser();
    const advice = play(adviser, now, 24.5, idleAt);
    expect(first(advice).aftermath).toEqual({ outcome: "stayed", at: now + 24 * hour, regretGpuHours: 0 });
    expect(first(play(adviser, now + 24.5 * hour, 0.5, null)).aftermath?.outcome).toBe("stayed");
  });

  it("and was taken away is followed, too: who starts it again comes back", () => {
    const adviser = newAdviser();
    play(adviser, now, 1, idleAt);
    const gone = first(play(adviser, now + hour, 2, idleAt, false));
    expect(gone).toMatchObject({ state: "taken", aftermath: null });
    expect(first(play(adviser, now + 3 * hour, 0.2, null)).aftermath).toMatchObject({ outcome: "came-back" });
  });

  it("is followed over a restart, and what is known is reported again", () => {
    const adviser = newAdviser();
    const kept = new Map<string, StoredAdvice>();
    const keep = (of: Adviser) => {
      for (const one of of.takeChanges()) kept.set(`${one.id} ${one.firstSeenAt}`, one);
    };
    play(adviser, now, 1, idleAt);
    keep(adviser);
    const second = newAdviser([...kept.values()]);
    play(second, now + hour, 1, null);
    keep(second);
    const third = newAdviser([...kept.values()]);
    expect(play(third, now + 2 * hour, 0.2, null).trackRecords).toMatchObject([
      { kind: "release_idle", act: "ask", outcomes: { "came-back": 1 } },
    ]);
  });
});

describe("work that hangs, about which its owner was asked", () => {
  const since = now - hour;
  const hung = { tensorActive: 0, dramActive: 0.001, powerWatts: 121 };
  const works = { tensorActive: 0.4, dramActive: 0.3, powerWatts: 600 };

  /** Like `play`: the Deployment's pod, by its name, hangs or works. */
  function playHung(adviser: Adviser, from: number, hours: number, pod: string | null, signals: object): Advice {
    let advice = adviser.latest();
    for (let at = from; at < from + hours * hour; at += interval) {
      const state = stateAt(at, null, pod !== null);
      const physicalGpus = Array.from({ length: 8 }, (_, i) => ({
        ...physicalGpu(`GPU-${i}`, 1, pod ?? ""),
        ...signals,
      }));
      const named = state.pods?.map((one) => ({ ...one, name: pod ?? "", uid: `uid-${pod}` })) ?? [];
      const stalledSince = new Map(signals === hung ? physicalGpus.map(({ uuid }) => [`n1/${uuid}`, since]) : []);
      const given = { ...state, pods: named, telemetry: [pageAt("n1", pod === null ? [] : physicalGpus, at)] };
      advice = adviser.advise(analysisAt(given, at, { stalledSince }));
    }
    return advice;
  }

  it("is wrong where it goes on by itself", () => {
    const adviser = newAdviser();
    expect(first(playHung(adviser, now, 1, "lab-0", hung))).toMatchObject({ act: "ask", stalledSince: since });
    const ended = first(playHung(adviser, now + hour, 0.5, "lab-0", works));
    expect(ended).toMatchObject({ state: "expired", aftermath: { outcome: "came-back", at: now + hour } });
  });

  it("is right where its owner restarts it, and its new pods compute", () => {
    const adviser = newAdviser();
    playHung(adviser, now, 1, "lab-0", hung);
    const taken = first(playHung(adviser, now + hour, 0.5, "lab-1", works));
    expect(taken).toMatchObject({ state: "taken", aftermath: null, measured: { gainedGpus: 8 } });
    const later = first(playHung(adviser, now + 1.5 * hour, 24.5, "lab-1", works));
    expect(later.aftermath).toMatchObject({ outcome: "stayed", regretGpuHours: 0 });
  });

  it("is followed over a restart of Fairlead", () => {
    const adviser = newAdviser();
    playHung(adviser, now, 1, "lab-0", hung);
    const second = newAdviser(adviser.takeChanges());
    expect(first(playHung(second, now + hour, 0.2, "lab-0", hung))).toMatchObject({
      stalledSince: since,
      state: "open",
    });
    expect(first(playHung(second, now + 2 * hour, 0.2, "lab-0", works)).aftermath?.outcome).toBe("came-back");
  });
});

describe("any other plan that was taken", () => {
  const at = start + 3600;
  const measured = { gainedGpus: 16, lostGpuHours: 3, at: start, isFinal: true };
  const living: LivingOffer = {
    offer: offer({ kind: "defragment" }),
    firstSeenAt: start,
    openedAt: start,
    openings: 1,
    computedAt: start,
    validUntil: start,
    state: "taken",
    closedAt: start,
    closedBecause: "",
    replaces: [],
    replacedBy: null,
    parts: null,
    rests: null,
    aftermath: null,
    alerts: [],
    measured: null,
  };
  const moment = momentIndex(cycle(1, victims));

  it.each([
    ["evicted-again", "evicted-again"],
    ["came-back", "came-back"],
    ["changed-back", "came-back"],
  ] as const)("is reported by what undid it: %s", (how, outcome) => {
    const undone = { how, at: at - 60, gpus: 8 };
    expect(aftermathOf({ ...living, measured: { ...measured, undone } }, moment, at, 24)).toEqual({
      outcome,
      at: at - 60,
      regretGpuHours: 3,
    });
  });

  it("stays where nothing undid it until the horizon is over", () => {
    const whole = { ...living, measured: { ...measured, undone: null } };
    expect(aftermathOf(whole, moment, at, 24)).toBeNull();
    expect(aftermathOf(whole, moment, start + 86_400, 24)).toMatchObject({ outcome: "stayed", regretGpuHours: 0 });
  });
});

describe("records of before there were acts", () => {
  /** What the ledger kept of open advice, without what has come since. */
  function older(kind: "release_idle" | "scale_in" | "fix_source"): StoredAdvice {
    const lifecycle = createAdviceLifecycle({ ...settings, standingCycles: 1 }, 30, []);
    lifecycle.advance([offer({ kind })], cycle(1, victims));
    const [kept] = lifecycle.takeChanges();
    if (kept === undefined) throw new Error("nothing was kept");
    const record: unknown = JSON.parse(kept.record, (key, value) =>
      ["act", "actReasons", "questions", "habit", "aftermath", "settled"].includes(key) ? undefined : value,
    );
    return { ...kept, record: JSON.stringify(record) };
  }

  it.each([
    ["release_idle", "ask", 0],
    ["scale_in", "do", 1],
    ["fix_source", "watch", 1],
  ] as const)("of kind %s are read, and have no command that stops work without asking", (kind, act, steps) => {
    const [one] = createAdviceLifecycle(settings, 30, [older(kind)]).latest().recommendations;
    expect(one).toMatchObject({ kind, act, questions: [], habit: null, aftermath: null });
    expect(one?.steps).toHaveLength(steps);
  });
});
