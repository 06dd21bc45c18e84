import type { RequestHandler } from "express";
import { html } from "../pages/html.ts";
import { pageFrame } from "../pages/pageFrame.ts";
import type { Outputs } from "./outputs.ts";

/** The formats in which a review can be written. */
export const reviewFormats = ["html", "markdown", "json", "csv"] as const;

export type ReviewFormat = (typeof reviewFormats)[number];

/** What is asked of a review, as texts of an address. */
export interface ReviewAsked {
  /** The week, such as `2026-W46`. If no window is given at all, it is the week that is going on. */
  readonly week: string | null;
  readonly month: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly team: string | null;
  /** How many windows before it are compared with it. */
  readonly compare: number;
  readonly format: ReviewFormat;
}

/** A review as it is sent, or why there is none. */
export type ReviewAnswer =
  | { readonly ok: true; readonly contentType: string; readonly body: string }
  | {
      readonly ok: false;
      readonly status: 400 | 404 | 503;
      readonly error: string;
      readonly nextStep: string;
      /** Set if the records begin only after the window, so that a later window will have a review. */
      readonly isNotYet?: true;
    };

/** The writer of reviews. */
export interface ReviewOutput {
  readonly write: (asked: ReviewAsked) => Promise<ReviewAnswer>;
  /** Source of the reviews' style sheet, for the Content-Security-Policy. */
  readonly styleSource: string;
}

/** The most windows that a review may be compared with. */
export const maxCompare = 26;
export const defaultCompare = 4;
const texts = ["week", "month", "from", "to", "team"] as const;
const maxTextLength = 300;

/** Serves `/review`: the capacity review of the week that is going on, or of another window, as a page or as data. */
export function reviewRoute(outputs: Outputs): RequestHandler {
  return async (request, response) => {
    const asked = parseAsked(request.originalUrl);
    const answer = "error" in asked ? asked : await (outputs.review?.write(asked) ?? nobodyWrites);
    if (answer.ok) {
      response.set("Content-Type", answer.contentType).send(answer.body);
      return;
    }
    const { ok: _, status, ...reason } = answer;
    const { error, nextStep } = reason;
    // A browser gets a page, and a client in a terminal gets the sentence alone.
    const isPage = !("error" in asked) && asked.format === "html" && request.accepts(["text", "html"]) === "html";
    // The page exists, and says what it needs.
    response.status(isPage && answer === nobodyWrites ? 200 : status);
    // A client that asks for data gets errors as data, too, like those of the API.
    if (request.originalUrl.includes("format=json")) response.json(reason);
    else if (isPage) response.type("html").send(renderNoReview(outputs.cluster, error, nextStep));
    else response.type("text/plain").send(`${error}\nNext step: ${nextStep}\n`);
  };
}

/** The page that is shown in place of a review that cannot be written. */
function renderNoReview(cluster: string, error: string, nextStep: string): string {
  return pageFrame({
    title: `Review · Fairlead ${cluster}`,
    heading: "Review",
    about: html`<p>cluster <strong>${cluster}</strong></p>`,
    here: "/review",
    styles: [],
    body: html`<p class="warning">${error}</p>
<p class="next">Next: ${nextStep}</p>`,
    foot: html`<p>The capacity review says what was allocated, used, wasted and paid in a week. With a ledger, the week that goes on is here from the second cycle on, and each later one from its Monday on.</p>`,
  });
}

type Refusal = Extract<ReviewAnswer, { ok: false }>;

const nobodyWrites: Refusal = {
  ok: false,
  status: 404,
  error: "There is no review: nothing keeps the past.",
  nextStep: "Set ledger.path to keep a ledger, or history.prometheus to a server that scrapes Fairlead.",
};

function parseAsked(url: string): ReviewAsked | Refusal {
  const { searchParams } = new URL(url, "http://localhost");
  const known: ReadonlySet<string> = new Set([...texts, "compare", "format"]);
  for (const [name, value] of searchParams) {
    if (!known.has(name))
      return wrong(`there is no parameter ${name.slice(0, 60)}`, `Use some of: ${[...known].join(", ")}.`);
    if (value.length > maxTextLength) return wrong(`${name} is too long`, `Use at most ${maxTextLength} characters.`);
  }
  const format = reviewFormats.find((one) => one === (searchParams.get("format") ?? "html"));
  if (format === undefined) return wrong("this format is not known", `Use one of: ${reviewFormats.join(", ")}.`);
  const compare = searchParams.get("compare") ?? `${defaultCompare}`;
  if (!/^\d{1,2}$/.test(compare) || Number(compare) > maxCompare)
    return wrong("compare is no number of windows", `Use a whole number from 0 to ${maxCompare}.`);
  const [week, month, from, to, team] = texts.map((name) => searchParams.get(name));
  return {
    week: week ?? null,
    month: month ?? null,
    from: from ?? null,
    to: to ?? null,
    team: team ?? null,
    compare: Number(compare),
    format,
  };
}

const wrong = (error: string, nextStep: string): Refusal => ({ ok: false, status: 400, error, nextStep });
