// Draws what the demo prints as docs/demo.svg, for people who would rather look than run.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const cell = { width: 8.4, height: 18 };
const run = spawnSync(process.execPath, ["cli/main.ts", "demo", "--once"], { encoding: "utf8" });
// Ports of the simulated exporters differ from run to run.
const all = run.stdout
  .replace(/127\.0\.0\.1:\d+/g, "10.0.0.9:9400")
  .trimEnd()
  .split("\n");
// The picture is on the first screen of the README, and what follows is long text.
const end = all.findIndex((line) => line.startsWith("CONFIGURATION OF QUEUES"));
const lines = end < 0 ? all : [...all.slice(0, end), "... and what is wrong, each with its next step"];
const escaped = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const rows = lines.map((line, i) => {
  const isHeading = /^[A-Z][A-Z ]+|^Fairlead/.test(line);
  const weight = isHeading ? ' font-weight="bold"' : "";
  return `<text x="16" y="${32 + i * cell.height}" xml:space="preserve"${weight}>${escaped(line)}</text>`;
});
const width = Math.ceil(32 + Math.max(...lines.map((line) => line.length)) * cell.width);
const height = 32 + lines.length * cell.height;
const style = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:14px;fill:#d7dde3";
writeFileSync(
  "docs/demo.svg",
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Output of the demo">
<rect width="100%" height="100%" rx="8" fill="#14181c"/>
<g style="${style}">
${rows.join("\n")}
</g>
</svg>
`,
);
