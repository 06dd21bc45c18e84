import { readFileSync, writeFileSync } from "node:fs";
import { withBurst } from "../cli/demo/burst/burstSection.ts";
import { burstMarkdown } from "../cli/demo/burst/burstTable.ts";
import { playBurst } from "../cli/demo/burst/demoBurst.ts";

// Plays the burst under its three policies, and writes the figures into docs/fairness.md. Takes half a minute.

const file = new URL("../docs/fairness.md", import.meta.url);
const figures = await playBurst({ seed: 1, onPolicy: (policy) => console.error(`${policy} ...`) });
const block = burstMarkdown(figures);
writeFileSync(file, withBurst(readFileSync(file, "utf8"), block));
console.log(block);
