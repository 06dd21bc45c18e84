import { describe, expect, test } from "vitest";
import { createAdviceLifecycle } from "../../../exporter/advice/lifecycle/adviceLifecycle.ts";
import type { SearchOfOffers } from "../../../exporter/advice/lifecycle/lifecycleContract.ts";
import { cycle, interval, offer, settings, start } from "./offers.ts";

/** The search of the moment `of`, which ended with this cycle or before. */
const search = (of: number, parts: Partial<SearchOfOffers> = {}): SearchOfOffers => ({
  at: start + of * interval,
  isNew: false,
  withdrawn: [],
  ...parts,
});
const ended = (of: number): SearchOfOffers => search(of, { isNew: true });
const withdrawn = (of: number): SearchOfOffers =>
  search(of, { withdrawn: [{ offer: offer(), because: "pod ads/embed-v3 is gone" }] });

/** A lifecycle after nine cycles, in which three searches ended, the second of which showed what it found. */
function opened() {
  const lifecycle = createAdviceLifecycle(settings, interval, []);
  for (const number of [0, 1, 2, 3, 4, 5, 6, 7, 8]) {
    const first = number - (number % 3);
    const seen = lifecycle.advance([offer()], cycle(number), [], number === first ? ended(first) : search(first));
    expect(seen.recommendations.length).toBe(number < 3 ? 0 : 1);
  }
  return lifecycle;
}

describe("where a search takes several cycles, advice", () => {
  test("is shown once two searches in a row have found it that are three cycles apart", () => {
    expect(opened().latest().recommendations).toMatchObject([{ state: "open", openings: 1 }]);
  });

  test("is valid for two cycles more while it holds, and says which moment it was worked out for", () => {
    const [first] = opened().latest().recommendations;
    expect(first).toMatchObject({ computedAt: start + 6 * interval, validUntil: start + 10 * interval });
  });

  test("is closed in the very cycle in which its plan holds no more", () => {
    const { recommendations } = opened().advance([], cycle(9), [], withdrawn(6));
    expect(recommendations).toMatchObject([
      { state: "expired", closedBecause: "withdrawn: pod ads/embed-v3 is gone", closedAt: start + 9 * interval },
    ]);
  });

  test("is shown again with its next plan, which a search found, as the same record", () => {
    const lifecycle = opened();
    lifecycle.advance([], cycle(9), [], withdrawn(6));
    lifecycle.advance([], cycle(10), [], withdrawn(6));
    const { recommendations } = lifecycle.advance([offer()], cycle(11), [], ended(9));
    expect(recommendations).toMatchObject([{ state: "open", openings: 2 }]);
  });

  test("has to last for three cycles again if a search did not find it", () => {
    const lifecycle = opened();
    lifecycle.advance([], cycle(9), [], ended(9));
    lifecycle.advance([], cycle(10), [], search(9));
    expect(lifecycle.latest().recommendations).toMatchObject([{ state: "expired" }]);
    expect(lifecycle.advance([offer()], cycle(11), [], ended(11)).withheld).toMatchObject([{ why: "standing" }]);
  });
});
