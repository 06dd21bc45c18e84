import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packPast } from "../cli/demo/past/packPast.ts";
import { pastStartAt, playPast } from "../cli/demo/past/playPast.ts";
import { packedPast } from "../cli/demo/past/unpackPast.ts";
import { demoStartAt } from "../cli/demo/startDemo.ts";

// Plays the two weeks before the demo and writes them into the file with which the demo begins. Takes about two minutes.

const mostBytes = 2_000_000;
const day = 86_400;

const folder = mkdtempSync(join(tmpdir(), "fairlead-past-"));
try {
  const ledgerPath = join(folder, "past.db");
  await playPast({
    to: demoStartAt,
    ledgerPath,
    onCycle: (at) => {
      if ((at - pastStartAt) % day === 0) console.error(`played ${(at - pastStartAt) / day} days`);
    },
  });
  const packed = packPast(ledgerPath);
  if (packed.length > mostBytes)
    throw new Error(`${packed.length} bytes are more than the ${mostBytes} that are allowed`);
  writeFileSync(packedPast, packed);
  console.error(`${packedPast}: ${packed.length} bytes`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
