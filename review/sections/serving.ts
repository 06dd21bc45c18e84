import type { Review } from "../document/review.ts";
import { nameText, teamText } from "../words/names.ts";
import { money } from "./money.ts";
import { figure, numberColumn, type Table, tableOf, textColumn } from "./section.ts";

/** The table of what workloads that serve did for their GPU time; `null` where none counts its requests. */
export function servingTable({ serving, clusters }: Review): Table | null {
  return tableOf(serving?.length ? serving : null, clusters, {
    section: "serving",
    caption: "Serving: tokens per GPU-hour and cost per million tokens",
    rowHeading: "workload",
    row: ({ kind, namespace, name, team, cluster }) => ({
      item: `${[kind, namespace, name].map(nameText).join("/")} ${teamText(team)}`,
      cluster,
      head: nameText(`${namespace}/${name}`),
    }),
    columns: [
      [textColumn("team"), ({ team }) => [teamText(team)]],
      [numberColumn("requests"), ({ requests }) => figure("requests", "count", requests)],
      [numberColumn("prompt tokens"), ({ promptTokens }) => figure("prompt_tokens", "count", promptTokens)],
      [numberColumn("generated tokens"), ({ generatedTokens }) => figure("generated_tokens", "count", generatedTokens)],
      [numberColumn("GPU-h", "GPU-h"), ({ gpuHours }) => figure("gpu_hours", "GPU-h", gpuHours)],
      [
        numberColumn("generated per GPU-h"),
        ({ tokensPerGpuHour }) => figure("tokens_per_gpu_hour", "count", tokensPerGpuHour),
      ],
      [numberColumn("cost"), ({ costs }) => money("cost", costs)],
      [
        numberColumn("per million generated"),
        ({ costPerMillionTokens }) => money("cost_per_million_tokens", costPerMillionTokens),
      ],
    ],
  });
}
