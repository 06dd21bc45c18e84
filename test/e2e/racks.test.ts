import { describe, expect, it } from "vitest";
import { racksPlay } from "../../cli/demo/demoPlay.ts";
import { playInMemory } from "../../cli/demo/playInMemory.ts";
import { rackView } from "../../cli/demo/racks/rackSlots.ts";
import { rackText } from "../../cli/demo/racks/rackText.ts";
import { run } from "../../cli/run.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { noAdvice } from "../../exporter/model/recommendation.ts";
import { plainTerminal } from "../../exporter/publish/terminal/layout.ts";
import { rackLabel, racksScenario, rackWork } from "../../simulator/scenarios/racks.ts";
import type { Truth } from "../../simulator/truth.ts";
import { captureIo } from "../cli/captureIo.ts";
import { startAt } from "./accounting.ts";
import { closeLoop } from "./advice/closedLoop.ts";

const seeds = [1, 2, 3, 4, 5];
const { blocked, twin, running } = rackWork;

const rackOf = new Map(racksScenario().nodes.map(({ name, labels }) => [name, labels[rackLabel] ?? ""]));
const racks = [...new Set(rackOf.values())];

/** By rack: the free GPUs of each of its nodes, as the simulator has them. */
function freeByRack({ physicalGpus }: Truth): ReadonlyMap<string, readonly number[]> {
  const free = new Map<string, number>();
  for (const { node, holders } of physicalGpus) free.set(node, (free.get(node) ?? 0) + (holders.length === 0 ? 1 : 0));
  return new Map(
    racks.map((rack) => [rack, [...free].flatMap(([node, own]) => (rackOf.get(node) === rack ? [own] : []))]),
  );
}

/** The racks in which a team has GPUs. */
const racksWith = ({ physicalGpus }: Truth, team: string): readonly string[] => [
  ...new Set(
    physicalGpus.flatMap(({ node, holders }) =>
      holders.some((holder) => holder.team === team) ? [rackOf.get(node) ?? ""] : [],
    ),
  ),
];

/** The fewest single-GPU notebooks that leave two nodes of one rack; nodes of gangs have no notebooks. */
function fewestMoves(truth: Truth): number {
  let fewest = Infinity;
  for (const rack of racks) {
    const notebooks = new Map<string, number>();
    const isGangs = new Set<string>();
    for (const { node, holders } of truth.physicalGpus) {
      if (rackOf.get(node) !== rack) continue;
      const team = holders[0]?.team ?? null;
      notebooks.set(node, (notebooks.get(node) ?? 0) + (team === "notebooks" ? 1 : 0));
      if (team !== null && team !== "notebooks") isGangs.add(node);
    }
    const [first = Infinity, second = Infinity] = [...notebooks]
      .flatMap(([node, count]) => (isGangs.has(node) ? [] : [count]))
      .sort((a, b) => a - b);
    fewest = Math.min(fewest, first + second);
  }
  return fewest;
}

describe.each(seeds)("the demo of racks, seed %i", (seed) => {
  it("shows the slots that the simulator has, the gang that waits for a rack, and the fewest moves that open one", async () => {
    const { scenario, settings, historySeconds } = racksPlay(seed);
    const config = configSchema.parse(settings);
    const play = await playInMemory({ scenario, seed, startAt, config });
    try {
      await play.step(0);
      for (let at = 0; at < (historySeconds ?? 0); at += config.interval) await play.step(config.interval);
      const analysis = play.stack.cycle.latest();
      if (analysis === null) throw new Error("no cycle was completed");
      const truth = play.cluster.truth();
      const view = rackView(analysis, play.stack.latest()?.advice ?? noAdvice, rackLabel);
      expect(view.racks).toEqual(
        [...freeByRack(truth)].map(([rack, free]) => {
          const whole = free.filter((gpus) => gpus === 4).length;
          const freeGpus = free.reduce((sum, gpus) => sum + gpus, 0);
          return {
            rack,
            nodes: 4,
            wholeFreeNodes: whole,
            freeGpus,
            slots: [Math.floor(whole / 2), Math.floor(whole / 4)],
          };
        }),
      );
      // The twin only prefers a rack and runs in two; what requires one has one, or waits.
      expect(racksWith(truth, running.team)).toHaveLength(1);
      expect(racksWith(truth, twin.team)).toHaveLength(2);
      expect(truth.works.filter(({ admittedAt }) => admittedAt === null).map(({ name }) => name)).toEqual([
        blocked.name,
      ]);
      expect(view.blocked).toMatchObject([{ name: `${blocked.team}/${blocked.name}`, gpus: 8, level: rackLabel }]);
      expect(view.blocked[0]?.advice).toEqual([
        expect.stringMatching(/: then rack-\d takes physics\/finetune \(8 GPUs\)$/),
      ]);
      const [advice, ...others] = play.stack.latest()?.advice.recommendations ?? [];
      expect([advice?.kind, others]).toEqual(["defragment", []]);
      expect(advice?.targets).toHaveLength(fewestMoves(truth));
      const lines = rackText(view, { ...plainTerminal, columns: 80 }).split("\n");
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(lines.length).toBeLessThanOrEqual(16);
      expect(lines.join("\n")).not.toContain(twin.name);
    } finally {
      await play.stop();
    }
  });

  it("has a gang that starts in the rack that the advice names, once that is carried out", async () => {
    const scenario = racksScenario(seed);
    await closeLoop(
      { kind: "defragment", scenario, seed, interval: 60, openWithin: 1800 },
      ({ offered, before, after }) => {
        expect(racksWith(before, blocked.team)).toEqual([]);
        const [, rack] = /then (rack-\d) takes/.exec(offered.title) ?? [];
        expect(racksWith(after, blocked.team)).toEqual([rack]);
        expect(after.works.filter(({ admittedAt }) => admittedAt === null)).toEqual([]);
      },
    );
  });
});

it("npm run demo -- --scenario racks --once shows it, and checks it against the simulator", async () => {
  const io = captureIo();
  expect(await run(["demo", "--scenario", "racks", "--once"], io), io.stderr()).toBe(0);
  const shown = io.stdout().replaceAll(/\s+/g, " ");
  expect(shown).toContain("8.0 are free and not given to it; what waits (8.0) fits nowhere together");
  expect(shown).not.toContain("would start with that");
  expect(io.stdout()).toMatch(/^RACKS by topology\.example\.com\/rack: 33\.0 GPUs are free\n/);
  expect(io.stdout()).toMatch(/\n {4}-> move notebooks\/notebook-\d+ /);
  expect(io.stdout()).toMatch(/\nchecked: \d+ numbers .* equal the simulator's truth\n/);
});
