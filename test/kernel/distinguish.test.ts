import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { distinguish } from "../../exporter/kernel/distinguish.ts";
import { hashOf, mix, together } from "../../exporter/kernel/traitHash.ts";

/** Things with traits, and which of them have to do with each other. */
interface Drawn {
  readonly traits: readonly number[];
  readonly links: readonly (readonly [number, number, string])[];
}

/** The things by index, in their order; `names` says how each is called. */
function orderOf({ traits, links }: Drawn, names: readonly string[]): readonly number[] {
  const own = traits.map((_, thing) =>
    links.flatMap(([a, b, how]) => (a === thing ? [b, hashOf(how)] : b === thing ? [a, hashOf(how)] : [])),
  );
  const compare = distinguish({
    traits: Float64Array.from(traits, (trait) => hashOf(trait)),
    linksOf: (thing) => own[thing] ?? [],
    rankOf: (thing) => traits[thing] ?? 0,
    nameOf: (thing) => names[thing] ?? "",
  });
  return traits.map((_, thing) => thing).sort(compare);
}

const count = 8;
const drawn: fc.Arbitrary<Drawn> = fc.record({
  traits: fc.array(fc.nat(2), { minLength: count, maxLength: count }),
  links: fc.array(
    fc.tuple(fc.nat(count - 1), fc.nat(count - 1), fc.constantFrom("on", "of")).filter(([a, b]) => a !== b),
    { maxLength: 12 },
  ),
});
const permutation = fc.shuffledSubarray([...Array(count).keys()], { minLength: count });
const letters = (order: readonly number[]): readonly string[] => order.map((i) => String.fromCharCode(97 + i));

/** Whose traits and links the places of an order have: all that can be seen without a name. */
const shapeOf = ({ traits, links }: Drawn, order: readonly number[]): string => {
  const place = (thing: number): number => order.indexOf(thing);
  const edges = links.map(([a, b, how]) => `${[place(a), place(b)].sort().join("-")} ${how}`).sort();
  return `${order.map((thing) => traits[thing]).join()} ${edges.join()}`;
};

describe("telling things apart", () => {
  it("gives the same shape of an order whatever the names, and whichever comes first", () => {
    fc.assert(
      fc.property(drawn, permutation, permutation, (one, names, places) => {
        const plain = shapeOf(one, orderOf(one, letters([...Array(count).keys()])));
        expect(shapeOf(one, orderOf(one, letters(names)))).toBe(plain);
        const moved: Drawn = {
          traits: places.map((from) => one.traits[from] ?? 0),
          links: one.links.map(([a, b, how]) => [places.indexOf(a), places.indexOf(b), how]),
        };
        expect(shapeOf(moved, orderOf(moved, letters(names)))).toBe(plain);
      }),
      { numRuns: 500, seed: 11 },
    );
  });

  it("takes the first by name where nothing else decides, and what belongs to it with it", () => {
    // Two pairs: 0 with 2, and 1 with 3.
    const pairs: Drawn = {
      traits: [1, 1, 2, 2],
      links: [
        [0, 2, "on"],
        [1, 3, "on"],
      ],
    };
    for (const names of [
      ["a", "b", "y", "x"],
      ["b", "a", "x", "y"],
    ]) {
      const order = orderOf(pairs, names);
      const first = order.filter((thing) => thing < 2);
      const second = order.filter((thing) => thing >= 2);
      expect(first.map((thing) => thing + 2)).toEqual(second);
    }
    expect(orderOf({ traits: [1, 1, 1], links: [] }, ["c", "a", "b"])).toEqual([1, 2, 0]);
  });

  it("names nothing where what is around distinguishes", () => {
    const one: Drawn = { traits: [1, 1, 2], links: [[0, 2, "on"]] };
    const [first] = orderOf(one, ["a", "b", "c"]).filter((thing) => thing < 2);
    const [other] = orderOf(one, ["b", "a", "c"]).filter((thing) => thing < 2);
    expect(other).toBe(first);
  });
});

describe("hashes of traits", () => {
  const hash = fc.tuple(fc.string(), fc.double({ noNaN: true })).map((traits) => hashOf(...traits));

  it("add up to the same in any order, and mix to something else in another", () => {
    fc.assert(
      fc.property(hash, hash, hash, (a, b, c) => {
        expect(together(together(a, b), c)).toBe(together(a, together(c, b)));
        for (const one of [mix(a, b), together(a, b)]) expect(Number.isSafeInteger(one) && one >= 0).toBe(true);
        if (a !== b) expect(mix(a, b)).not.toBe(mix(b, a));
      }),
    );
  });

  it("differ for what is different, also in kind", () => {
    const all = [hashOf(), hashOf(null), hashOf(0), hashOf(1), hashOf("1"), hashOf(true), hashOf(false), hashOf("")];
    expect(new Set([...all, hashOf("a", "b"), hashOf("b", "a"), hashOf("ab"), hashOf(-1)]).size).toBe(12);
    expect(hashOf(-0)).toBe(hashOf(0));
    expect(hashOf(undefined)).toBe(hashOf(null));
  });
});
