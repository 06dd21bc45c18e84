import type { GpuState } from "../../model/gpuStates.ts";
import type { PoolPart } from "../overview/poolRows.ts";
import { stateNames } from "../stateNames.ts";
import { gpus } from "../terminal/columns.ts";
import { type Html, html } from "./html.ts";

/** Classes of the parts of a bar: used GPUs are solid, wasted ones lighter, and those that cannot be used grey. */
const looks: Readonly<Record<GpuState, string>> = {
  active: "used",
  underutilized: "half",
  idle: "wasted",
  stalled: "wasted",
  starting: "waits",
  gang_wait: "waits",
  unobserved: "unknown",
  unattributed: "unknown",
  free: "open",
  idle_node: "spare",
  cordoned: "away",
  unavailable: "away",
};

/** Style of bars and of the swatches that name their parts; text beside them says the same. */
export const barStyle = `
.bar { display: block; width: 100%; height: 1.1rem; border: 1px solid var(--line); border-radius: 0.2rem; }
.bar rect { stroke: var(--back); stroke-width: 1; vector-effect: non-scaling-stroke; }
.used { fill: var(--used); } .half { fill: var(--half); } .wasted { fill: var(--wasted); } .waits { fill: var(--waits); }
.unknown { fill: var(--unknown); } .open { fill: var(--open); } .spare { fill: var(--spare); } .away { fill: var(--away); }
.parts { display: flex; flex-wrap: wrap; gap: 0.1rem 1rem; list-style: none; margin: 0.2rem 0 0.8rem; padding: 0; font-size: 0.9rem; }
.parts svg { width: 0.7rem; height: 0.7rem; margin-right: 0.35rem; }
`;

/** GPUs by state as one bar whose parts add up, with the same in words below it. `label` says whose GPUs they are. */
export function gpuBar(parts: readonly PoolPart[], total: number, label: string): Html {
  if (!(total > 0)) return html`<p class="next">none</p>`;
  let from = 0;
  const pieces = parts.map(({ state, gpus: amount }) => {
    const width = (amount / total) * 1000;
    const piece = html`<rect class="${looks[state]}" x="${from.toFixed(1)}" y="0" width="${width.toFixed(1)}" height="10"><title>${partText({ state, gpus: amount })}</title></rect>`;
    from += width;
    return piece;
  });
  const said = parts.map(partText).join(", ");
  return html`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="${label}: ${said}">${pieces}</svg>
<ul class="parts" aria-hidden="true">${parts.map((part) => html`<li><svg viewBox="0 0 10 10"><rect class="${looks[part.state]}" width="10" height="10"/></svg>${partText(part)}</li>\n`)}</ul>
`;
}

const partText = ({ state, gpus: amount }: PoolPart): string => `${stateNames[state]} ${gpus(amount)}`;
