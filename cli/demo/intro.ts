import type { OverviewText } from "../../exporter/publish/terminal/overviewSchema.ts";

/** An overview whose advice begins with a text that a scenario of the demo is about. */
export function withIntro({ at, sections }: OverviewText, text: string): OverviewText {
  const advice = sections.find(({ name }) => name === "advice");
  const lines = text.split("\n");
  return {
    at,
    sections: [
      ...sections.filter((section) => section !== advice),
      { name: "advice", lines: [...lines, ...(advice === undefined ? [] : ["", ...advice.lines])] },
    ],
  };
}
