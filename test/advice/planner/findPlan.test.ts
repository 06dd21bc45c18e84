import { describe, expect, it } from "vitest";
import { type Case, type CaseUnit, faultsOf, namesOf, planFor, problemOf } from "./planBuilder.ts";

/** A single pod of some GPUs on a node. */
const pod = (name: string, node: number, gpus: number, parts: Partial<CaseUnit> = {}): CaseUnit => ({
  name,
  pods: [{ node, gpus }],
  lost: gpus,
  ...parts,
});

const eight = { gpus: 8 } as const;

function answerTo(one: Case) {
  const problem = problemOf(one);
  const answer = planFor(problem);
  expect(faultsOf(problem, answer)).toEqual([]);
  expect(answer.isExact).toBe(true);
  const { plan, noPlan } = answer;
  const seats = plan?.moves.map(({ pod: moved, from, to }) => [moved, from, to]) ?? null;
  return {
    names: plan === null ? null : namesOf(problem, answer),
    seats,
    code: noPlan?.code ?? null,
    words: noPlan?.words ?? "",
    plan,
  };
}

describe("volcano issue 3948: three nodes of 8 GPUs are used 7, 6 and 7, and a job wants 4", () => {
  const nodes = [eight, eight, eight];
  const waiting = [{ gpus: 4, pods: 1 }];

  it("moves the two GPUs whose place on the second node the job needs", () => {
    const units = [pod("a", 0, 7), pod("b", 1, 1), pod("c", 1, 1), pod("d", 1, 4), pod("e", 2, 7)];
    expect(answerTo({ nodes, units, goal: waiting })).toMatchObject({
      names: ["b", "c"],
      plan: { lostGpuHours: 2, goalNodes: [1] },
    });
  });

  it("counts the whole job: a pod whose gang runs elsewhere, too, costs all of it", () => {
    const gang: CaseUnit = {
      name: "b",
      pods: [
        { node: 1, gpus: 1 },
        { node: 0, gpus: 1 },
      ],
      lost: 20,
    };
    const units = [pod("a", 0, 6), gang, pod("c", 1, 1), pod("d", 1, 1), pod("f", 1, 3), pod("e", 2, 7)];
    expect(answerTo({ nodes, units, goal: waiting }).names).toEqual(["c", "d"]);
  });

  it("knows none where no other node takes what has to leave", () => {
    const units = [pod("a", 0, 7), pod("b", 1, 2), pod("d", 1, 4), pod("e", 2, 7)];
    expect(answerTo({ nodes, units, goal: waiting })).toMatchObject({ names: null, code: "nowhere-to-go" });
  });
});

describe("descheduler issue 1584: ten pods cannot all move to the one free place", () => {
  it("takes each place off before the next is looked for", () => {
    const ones = Array.from({ length: 4 }, (_, i) => pod(`one-${i}`, 0, 1));
    const nodes = [{ gpus: 4 }, eight];
    const one = { nodes, units: [...ones, pod("big", 1, 7)], goal: [{ gpus: 4, pods: 1 }] };
    expect(answerTo(one)).toMatchObject({ names: null, code: "short-of-capacity" });
    const two = { ...one, nodes: [...nodes, { gpus: 3 }] };
    expect(answerTo(two)).toMatchObject({ names: ["one-0", "one-1", "one-2", "one-3"] });
    const three = { ...one, nodes: [...nodes, { gpus: 3, closed: true }] };
    expect(answerTo(three).names).toBeNull();
  });
});

describe("what a plan is chosen by", () => {
  const nodes = [{ gpus: 2 }, { gpus: 2 }, { gpus: 2 }];
  const goal = [{ gpus: 2, pods: 1 }];

  it("is what is lost, before how many move", () => {
    const units = [pod("a", 0, 2, { lost: 3 }), pod("b", 1, 1, { lost: 1 }), pod("c", 2, 1, { lost: 5 })];
    expect(answerTo({ nodes, units, goal })).toMatchObject({ names: ["b"], seats: [[1, 1, 2]] });
  });

  it("is then how few move, then who comes first", () => {
    const wide = [{ gpus: 2 }, { gpus: 2 }, { gpus: 4 }];
    const units = [
      pod("a", 0, 1, { lost: 0 }),
      pod("b", 0, 1, { lost: 0 }),
      pod("c", 1, 2, { lost: 0 }),
      pod("x", 2, 2),
    ];
    expect(answerTo({ nodes: wide, units, goal: [{ gpus: 2, pods: 1 }] }).code).toBe("nothing-to-gain");
    const more = [...units, pod("y", 2, 1)];
    expect(answerTo({ nodes: wide, units: more, goal: [{ gpus: 2, pods: 1 }] }).names).toBeNull();
    const same = [pod("b", 1, 1), pod("a", 0, 1), pod("c", 2, 1)];
    expect(answerTo({ nodes, units: same, goal }).names).toEqual(["a"]);
  });

  it("may be that others make place in their turn", () => {
    const units = [
      pod("big", 0, 3, { lost: 1 }),
      pod("pinned", 1, 1, { lost: 1 }),
      pod("small", 1, 1, { lost: 1 }),
      pod("last", 2, 3, { lost: 50 }),
    ];
    const four = [{ gpus: 4 }, { gpus: 4 }, { gpus: 4 }];
    const answer = answerTo({ nodes: four, units, goal: [{ gpus: 4, pods: 1 }] });
    expect(answer).toMatchObject({ names: ["big", "pinned"] });
    // Who makes place leaves first.
    expect(answer.seats?.map(([moved]) => moved)).toEqual([2, 0]);
  });

  it("is a gang whole: its pods may come back, and all of them are placed", () => {
    const gang: CaseUnit = {
      name: "gang",
      pods: [
        { node: 0, gpus: 1 },
        { node: 1, gpus: 2 },
      ],
      lost: 1,
    };
    const answer = answerTo({ nodes, units: [gang, pod("x", 2, 1, { veto: "x stays" })], goal });
    expect(answer).toMatchObject({
      names: ["gang"],
      seats: [
        [0, 0, 2],
        [1, 1, 1],
      ],
    });
  });
});

describe("whole free nodes", () => {
  const nodes = [{ gpus: 4 }, { gpus: 4 }, { gpus: 4 }];

  it("are freed where the others take what is allocated there", () => {
    const units = [pod("a", 0, 2, { lost: 1 }), pod("b", 1, 1, { lost: 3 }), pod("c", 2, 2, { lost: 2 })];
    expect(answerTo({ nodes, units, goal: 1 })).toMatchObject({ names: ["a"], plan: { goalNodes: [0] } });
  });

  it("are not freed of pods that nothing moves, nor where all is packed already", () => {
    const allocated = [pod("a", 0, 3), pod("b", 1, 3)];
    expect(answerTo({ nodes, units: allocated, fixed: [{ node: 2, gpus: 4 }], goal: 1 }).code).toBe("nothing-to-gain");
    const fixed = [0, 1].map((node) => ({ node, gpus: 1 }));
    expect(answerTo({ nodes, units: [pod("c", 2, 3)], fixed, goal: 1 })).toMatchObject({ names: ["c"] });
  });
});

describe("why there is no plan", () => {
  const nodes = [{ gpus: 4 }, { gpus: 4 }];
  const goal = [{ gpus: 4, pods: 1 }];

  it.each<[string, Case, string, RegExp]>([
    ["it fits already", { nodes, units: [pod("a", 0, 1)], goal }, "nothing-to-gain", /nothing has to move/],
    [
      "too little is free",
      { nodes, units: [pod("a", 0, 3), pod("b", 1, 3)], goal },
      "short-of-capacity",
      /^2 GPUs free and it needs 4 GPUs/,
    ],
    [
      "too little CPU is free",
      {
        nodes: [
          { gpus: 4, cpu: 8 },
          { gpus: 4, cpu: 8 },
        ],
        units: [
          pod("a", 0, 1, { pods: [{ node: 0, gpus: 1, cpu: 7 }] }),
          pod("b", 1, 1, { pods: [{ node: 1, gpus: 1, cpu: 7 }] }),
        ],
        goal: [{ gpus: 4, pods: 1, cpu: 4 }],
      },
      "short-of-capacity",
      /^2 CPU cores are free and it needs 4/,
    ],
    [
      "its queue is full",
      { nodes, units: [pod("a", 0, 2), pod("b", 1, 2)], goal, quota: 3 },
      "short-of-quota",
      /may take 3 GPUs more/,
    ],
    [
      "who would have to move is guarded",
      {
        nodes,
        units: [
          pod("a", 0, 2, { veto: "PodDisruptionBudget ads/serving allows 0 disruptions" }),
          pod("b", 1, 2, { veto: "b asks to be left alone" }),
        ],
        goal,
      },
      "guarded",
      /^a would have to move, and may not: PodDisruptionBudget ads\/serving allows 0 disruptions$/,
    ],
    [
      "too many would have to move",
      {
        nodes: [{ gpus: 4 }, { gpus: 8 }],
        units: [...[0, 1, 2, 3].map((i) => pod(`a${i}`, 0, 1)), pod("b", 1, 4)],
        goal: [{ gpus: 4, pods: 2 }],
        maxMoves: 3,
      },
      "short-of-capacity",
      /4 GPUs free and it needs 8 GPUs/,
    ],
    [
      "more would have to move than one plan may",
      {
        nodes: [{ gpus: 4 }, { gpus: 4 }, { gpus: 2 }],
        units: [0, 0, 1, 1].map((node, i) => pod(`a${i}`, node, 1)),
        fixed: [],
        goal,
        maxMoves: 1,
      },
      "too-many-moves",
      /^a0, a1 would have to move, and one plan may move at most 1 pod or gang$/,
    ],
    [
      "what is in the way belongs to nobody who moves",
      {
        nodes,
        units: [],
        fixed: [
          { node: 0, gpus: 1 },
          { node: 1, gpus: 1 },
        ],
        goal,
      },
      "fixed",
      /even without every pod that could be moved/,
    ],
    [
      "a cordoned node takes nobody",
      { nodes: [{ gpus: 4 }, { gpus: 4 }, { gpus: 4, closed: true }], units: [pod("a", 0, 2), pod("b", 1, 3)], goal },
      "short-of-capacity",
      /^3 GPUs free/,
    ],
  ])("%s", (_why, one, code, words) => {
    const answer = answerTo(one);
    expect(answer).toMatchObject({ names: null, code });
    expect(answer.words).toMatch(words);
  });

  it("says so where it did not look to the end", () => {
    const units = Array.from({ length: 12 }, (_, i) =>
      pod(`a${i}`, i % 6, 2, { pods: [{ node: i % 6, gpus: 2, cpu: 4 }] }),
    );
    const problem = problemOf({
      nodes: Array.from({ length: 6 }, () => ({ gpus: 8, cpu: 10 })),
      units,
      goal: [{ gpus: 8, pods: 2, cpu: 6 }],
      maxMoves: 4,
    });
    const answer = planFor(problem, { looks: 20 });
    expect(answer).toMatchObject({ isExact: false });
    expect(answer.looks).toBeLessThan(200);
  });
});
