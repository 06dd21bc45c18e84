import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findOffers } from "../../../exporter/advice/findOffers.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import type { Offer } from "../../../exporter/advice/offer.ts";
import { createSearchRounds, type Searched } from "../../../exporter/advice/rounds/searchRounds.ts";
import { turnsOf } from "../../../exporter/advice/turns.ts";
import type { WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { type Cycle, historyOf, momentAt } from "./clusterHistory.ts";

const cyclesPerSearch = fc.integer({ min: 1, max: 5 });

/** What a search over several cycles says in each moment, with the moment that it searches then. */
function played(history: readonly Cycle[], cycles: number) {
  const rounds = createSearchRounds(() => cycles);
  let begun: AdviceMoment | null = null;
  let age = 0;
  return history.map((cycle, i) => {
    const moment = momentAt(cycle, i);
    if (begun === null || age >= cycles || i === 1) [begun, age] = [moment, 0];
    age += 1;
    return { moment, begun, searched: rounds.next(moment) };
  });
}

/** Naively: what an offer names is in both moments, and the same in both. */
function expectAsItWas({ disrupted, signs, measuredBy, draft }: Offer, then: Snapshot, now: Snapshot): void {
  const podIn = ({ pods }: Snapshot, uid: string) => {
    const pod = pods.find((one) => one.uid === uid);
    return { node: pod?.node, priority: pod?.priority, gpus: pod?.gpus, owner: pod?.owner };
  };
  const workIn = ({ queueing }: Snapshot, work: string) => {
    const isIt = ({ uid, kind, namespace, name }: WaitingGang) =>
      uid === work || `${kind}/${namespace}/${name}` === work;
    const { pods, gpus, priority } = queueing.gangs.find(isIt) ?? {};
    return { pods, gpus, priority };
  };
  const quotaIn = ({ queueing }: Snapshot) =>
    queueing.queues.flatMap(({ name, guaranteed, limit }) => (name === draft.queue ? [guaranteed, limit] : []));
  const budgetsIn = ({ podDisruptionBudgets }: Snapshot, namespaces: ReadonlySet<string>) =>
    podDisruptionBudgets?.filter(({ namespace }) => namespaces.has(namespace));
  const uids = disrupted.map(({ uid }) => uid);
  const namespaces = new Set(
    then.pods.flatMap(({ uid, namespace }) => (uid !== null && uids.includes(uid) ? namespace : [])),
  );
  const work = measuredBy.kind === "work-started" ? measuredBy.work : [];
  const ahead = signs.flatMap((sign) => (sign.kind === "priority-changed" ? [sign.work, sign.ahead] : []));
  for (const uid of uids) expect(podIn(now, uid)).toEqual(podIn(then, uid));
  for (const one of [...work, ...ahead]) expect(workIn(now, one)).toEqual(workIn(then, one));
  expect(quotaIn(now)).toEqual(quotaIn(then));
  expect(budgetsIn(now, namespaces)).toEqual(budgetsIn(then, namespaces));
}

const idsOf = ({ offers, withdrawn }: Searched): readonly string[] =>
  [...offers, ...withdrawn.map(({ offer }) => offer)].map(({ draft }) => draft.id).sort();

describe("a search that takes several cycles", () => {
  it("says of the moment that it searched what a search of that moment at once says", () => {
    fc.assert(
      fc.property(historyOf(8), cyclesPerSearch, (history, cycles) => {
        for (const { begun, searched } of played(history, cycles)) {
          if (!searched.isNew) continue;
          const fresh = findOffers(begun);
          expect(searched.at).toBe(begun.analysis.snapshot.at);
          expect(idsOf(searched)).toEqual(fresh.offers.map(({ draft }) => draft.id).sort());
          for (const offer of searched.offers)
            expect(offer).toEqual(fresh.offers.find(({ draft }) => draft.id === offer.draft.id));
        }
      }),
      { numRuns: 40, seed: 27 },
    );
  });

  it("ends within its cycles, so that every need has its turn", () => {
    fc.assert(
      fc.property(historyOf(12), cyclesPerSearch, (history, cycles) => {
        let since = 0;
        for (const { searched, moment } of played(history, cycles)) {
          since = searched.isNew ? 0 : since + 1;
          expect(since).toBeLessThan(Math.max(1, 2 * cycles - 1));
          // What is offered was searched in a moment that is not older than two searches.
          expect(moment.analysis.snapshot.at - searched.at).toBeLessThan(30 * Math.max(1, 2 * cycles));
        }
      }),
      { numRuns: 30, seed: 28 },
    );
  });

  it("offers nothing whose pods, work or queues are not as they were", () => {
    let withdrawn = 0;
    fc.assert(
      fc.property(historyOf(10), cyclesPerSearch, (history, cycles) => {
        const all = played(history, cycles);
        for (const { moment, searched } of all) {
          withdrawn += searched.withdrawn.length;
          const then = all.find((one) => one.moment.analysis.snapshot.at === searched.at)?.moment;
          if (then === undefined) throw new Error("it searched no moment of the history");
          for (const offer of searched.offers) expectAsItWas(offer, then.analysis.snapshot, moment.analysis.snapshot);
        }
      }),
      { numRuns: 80, seed: 29 },
    );
    // The property says nothing if no plan ever ends.
    expect(withdrawn).toBeGreaterThan(5);
  });

  it("keeps everything that it found while nothing changes", () => {
    fc.assert(
      fc.property(historyOf(1), cyclesPerSearch, (history, cycles) => {
        const [first] = history;
        if (first === undefined) return;
        const fresh = findOffers(momentAt(first, 0))
          .offers.map(({ draft }) => draft.id)
          .sort();
        for (const { searched } of played(
          Array.from({ length: 9 }, () => first),
          cycles,
        )) {
          expect(searched.withdrawn).toEqual([]);
          expect(idsOf(searched)).toEqual(fresh);
        }
      }),
      { numRuns: 30, seed: 30 },
    );
  });
});

describe("a small cluster", () => {
  it("is searched in each cycle as if nothing were remembered", () => {
    fc.assert(
      fc.property(historyOf(6), (history) => {
        const rounds = createSearchRounds();
        for (const [i, cycle] of history.entries()) {
          const moment = momentAt(cycle, i);
          const { inputs: _, ...fresh } = findOffers(moment);
          const at = moment.analysis.snapshot.at;
          expect(rounds.next(moment)).toEqual({ ...fresh, at, isNew: true, isGoingOn: false, withdrawn: [] });
        }
      }),
      { numRuns: 20, seed: 31 },
    );
  });

  it("has up to 2,500 nodes; each further 2,500 are one more cycle", () => {
    expect([0, 1, 2500, 2501, 5000, 10_000].map(turnsOf)).toEqual([1, 1, 1, 2, 2, 4]);
  });
});

it("a search that fails is begun anew, and what was found before is not kept for ever", () => {
  const [cycle] = fc.sample(historyOf(1), { seed: 32, numRuns: 1 })[0] ?? [];
  if (cycle === undefined) throw new Error("no history");
  const moment = momentAt(cycle, 0);
  const broken: AdviceMoment = {
    ...moment,
    analysis: {
      ...moment.analysis,
      get blocked(): never {
        throw new Error("broken");
      },
    },
  };
  const rounds = createSearchRounds(() => 3);
  rounds.next(moment);
  expect(() => [1, 2, 3].map(() => rounds.next(broken))).toThrow("broken");
  expect(() => rounds.next(broken)).toThrow("broken");
  expect(rounds.next(moment).isNew).toBe(true);
});
