import type { RequestHandler } from "express";
import { isTooOld } from "../health.ts";
import { html } from "../pages/html.ts";
import { nowStyleSource } from "../pages/nowStyle.ts";
import { pageFrame } from "../pages/pageFrame.ts";
import { contentPolicy, pageStyleSource } from "../pages/pageStyle.ts";
import { refreshSource } from "../pages/refresh.ts";
import type { Finished, FinishedStart } from "./finished.ts";

const policy = contentPolicy({ styles: [pageStyleSource, nowStyleSource], scripts: [refreshSource] });

/** Serves `/`: the start page of the last cycle, at once, whatever the exporter is doing. The page says so when it is old. */
export function startRoute(finished: Finished): RequestHandler {
  return (_request, response) => {
    const { intervalSeconds, missing } = finished.probe();
    const page = finished.start();
    response.set("Content-Security-Policy", policy).type("html");
    if (page === null) response.send(firstPage(missing, intervalSeconds));
    else response.send(`${page.before}${notice(page, intervalSeconds, finished.now())}${page.after}`);
  };
}

function notice({ at }: FinishedStart, intervalSeconds: number, now: number): string {
  if (at === null || !isTooOld(at, { intervalSeconds }, now)) return "";
  return html`<p class="error">These numbers are ${Math.round(now - at)} s old. The last cycles did not complete: see the problems below and Fairlead's log.</p>
`.markup;
}

/** The page that is shown until the exporter has reported anything about itself. */
function firstPage(missing: readonly string[], refreshSeconds: number): string {
  return pageFrame({
    title: "Fairlead",
    heading: "Fairlead",
    about: html``,
    here: "/",
    styles: [],
    refreshSeconds,
    body: html`<p class="warning">No answers yet: ${missing.join("; ")}.</p>`,
    foot: html`<p>Fairlead only reads your cluster.</p>`,
  });
}
