import { describe, expect, it } from "vitest";
import { type BlockedWork, blockedByPool, nothingBlocked } from "../../../exporter/analysis/blocked/blocked.ts";
import { now } from "../../join/clusterBuilder.ts";
import { waitingMoment } from "../waiting/waitingBuilder.ts";

const snapshot = waitingMoment([], []);

const work = (parts: Partial<BlockedWork>): BlockedWork => ({
  gang: 0,
  key: "Job/research/train u",
  pools: ["H100"],
  gpus: 4,
  freeGpus: 8,
  blocker: "spread",
  since: now - 600,
  isStanding: true,
  ...parts,
});

describe("blocked work of a pool", () => {
  it("is standing work, each once: in the first pool by name, whatever their order", () => {
    const blocked = {
      work: [
        work({}),
        work({ gpus: 2, pools: ["H100", "A100"] }),
        work({ gpus: 1, since: now - 900 }),
        work({ gpus: 3, blocker: "cpu" }),
        work({ gpus: 64, isStanding: false }),
      ],
      since: new Map(),
    };
    expect(blockedByPool({ blocked, snapshot })).toEqual([
      { pool: "H100", blocker: "spread", gangs: 2, gpus: 5, longestSeconds: 900 },
      { pool: "A100", blocker: "spread", gangs: 1, gpus: 2, longestSeconds: 600 },
      { pool: "H100", blocker: "cpu", gangs: 1, gpus: 3, longestSeconds: 600 },
    ]);
  });

  it("is not there where nothing waits", () => {
    expect(blockedByPool({ blocked: nothingBlocked, snapshot })).toEqual([]);
  });
});
