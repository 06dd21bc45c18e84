import { describe, expect, test } from "vitest";
import type { DeviceReading, TelemetryPage } from "../../../exporter/model/telemetry.ts";
import { type NodeMovement, watchMovement } from "../../../exporter/sources/dcgm/prometheusStandstill.ts";
import { bareReading, page } from "../../join/clusterBuilder.ts";

const frozenAfter = 180;
const startAt = 1_795_000_000;
const physicalGpu = (parts: Partial<DeviceReading> = {}): DeviceReading =>
  bareReading("GPU-0", { powerWatts: 70, energyJoules: 5000, gpuUtil: 0, ...parts });

type Answer = readonly (readonly [scrapedAt: number, physicalGpu: DeviceReading])[];

/** What does not change after answers, each with the pages of one node. */
function followed(answers: readonly Answer[]): { readonly still: boolean; readonly codes: readonly string[] } {
  let movements: ReadonlyMap<string, NodeMovement> = new Map();
  let last: { readonly still: boolean; readonly codes: readonly string[] } = { still: false, codes: [] };
  for (const answer of answers) {
    const pages = answer.map(([receivedAt, one]): TelemetryPage => page("n1", [one], { receivedAt }));
    const found = watchMovement(movements, new Map([["n1", pages]]), "server", frozenAfter);
    movements = found.movements;
    last = { still: found.still.has("n1"), codes: found.problems.map(({ code }) => code) };
  }
  return last;
}

const every = (
  seconds: number,
  count: number,
  one: (turn: number) => DeviceReading = () => physicalGpu(),
): readonly Answer[] => Array.from({ length: count }, (_, turn): Answer => [[startAt + turn * seconds, one(turn)]]);

describe("samples of a server that stay young", () => {
  test("stand still when their values do, for three minutes of new scrapes", () => {
    expect(followed(every(30, 6))).toEqual({ still: false, codes: [] });
    expect(followed(every(30, 7))).toEqual({ still: true, codes: ["exporter-frozen"] });
  });

  test("do not while a value moves, nor again once it has", () => {
    expect(followed(every(30, 30, (turn) => physicalGpu({ energyJoules: 5000 + turn }))).still).toBe(false);
    expect(followed([...every(30, 20), [[startAt + 600, physicalGpu({ energyJoules: 5001 })]]]).still).toBe(false);
  });

  test("do not where the same scrape is shown again and again", () => {
    const same = Array.from({ length: 30 }, (): Answer => [[startAt, physicalGpu()]]);
    expect(followed(same).still).toBe(false);
  });

  test("are compared with all that the answer before had of a GPU: two servers scrape one exporter, in any order", () => {
    const both = (turn: number): Answer => {
      const [one, other] = [
        [startAt + turn * 30, physicalGpu({ energyJoules: 5000 + turn })],
        [startAt + turn * 30 - 13, physicalGpu({ energyJoules: 4999 + turn })],
      ] as const;
      return turn % 2 === 0 ? [one, other] : [other, one];
    };
    expect(followed(Array.from({ length: 30 }, (_, turn) => both(turn))).still).toBe(false);
    const frozen = Array.from({ length: 30 }, (_, turn): Answer => {
      const pages = [[startAt + turn * 30, physicalGpu()] as const, [startAt + turn * 30 - 13, physicalGpu()] as const];
      return turn % 2 === 0 ? pages : pages.toReversed();
    });
    expect(followed(frozen).still).toBe(true);
  });

  test("are forgotten with the node", () => {
    const pages = new Map([["n1", [page("n1", [physicalGpu()], { receivedAt: startAt })]]]);
    const { movements } = watchMovement(new Map(), pages, "server", frozenAfter);
    expect(watchMovement(movements, new Map(), "server", frozenAfter).movements.size).toBe(0);
  });

  test("of more exporters than can be named are one thing", () => {
    const byNode = (at: number) =>
      new Map(
        Array.from({ length: 40 }, (_, i) => [`n${i}`, [page(`n${i}`, [physicalGpu()], { receivedAt: at })]] as const),
      );
    let movements: ReadonlyMap<string, NodeMovement> = new Map();
    for (let turn = 0; turn < 7; turn += 1)
      movements = watchMovement(movements, byNode(startAt + turn * 30), "server", frozenAfter).movements;
    const { problems, still } = watchMovement(movements, byNode(startAt + 210), "server", frozenAfter);
    expect(still.size).toBe(40);
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toMatchObject({
      code: "targets-failing",
      message: "40 exporters show values that do not change; 20 are listed",
    });
  });
});
