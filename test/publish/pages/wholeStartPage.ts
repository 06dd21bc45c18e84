import { renderStartPage, type StartPageInput } from "../../../exporter/publish/pages/startPage.ts";

/** The start page as a browser gets it while its numbers are fresh. */
export function wholeStartPage(input: StartPageInput): string {
  const { before, after } = renderStartPage(input);
  return `${before}${after}`;
}
