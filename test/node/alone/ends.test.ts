import { describe, expect, it } from "vitest";
import { givenNode } from "../givenNode.ts";
import { killAtRandom } from "../killAtRandom.ts";

const { node } = givenNode();
const say = (line: string): void => void process.stderr.write(`kill ${line}\n`);

describe("container, pod and node, killed at random moments", () => {
  // `npm run test:node -- kills` does it as often as one likes.
  it("leave a ledger that opens and is sound, and that lacks at most one cycle", async () => {
    const kills = await killAtRandom(node, { count: 3, seed: 20_261_124, say });
    expect(kills.map(({ target }) => target)).toEqual(["container", "pod", "node"]);
  });
});
