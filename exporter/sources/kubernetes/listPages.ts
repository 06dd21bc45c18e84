import type { ApiClient } from "./apiClient.ts";
import { failing, getGood, type Setback } from "./setback.ts";
import type { DecodedObject, WireFormat } from "./wire.ts";

export interface ListRequest<Row> {
  readonly client: ApiClient;
  /** Path of the collection, such as `/api/v1/pods`. */
  readonly path: string;
  readonly wire: WireFormat<Row>;
  readonly pageSize: number;
  readonly pageDeadlineSeconds: number;
  readonly maxPageBytes: number;
  readonly signal: AbortSignal;
  /** Called when a list begins, and again when it has to begin anew; objects that came before are void. */
  readonly begin: () => (object: DecodedObject<Row>) => void;
  /** Called when the list begins again because its continue token was no longer accepted. */
  readonly onExpired?: (message: string) => void;
}

export type ListOutcome =
  | { readonly ok: true; readonly resourceVersion: string }
  | { readonly ok: false; readonly setback: Setback };

/** How often a list may expire while it is read; beyond that the reading is too slow for the server. */
const maxRestarts = 3;
/** The limit on the pages of a list, so that a server that never ends it does not fill the memory. */
const maxPages = 20_000;

/** Reads all pages of a list. A continue token that has expired (410) starts the list anew. */
export async function listPages<Row>(request: ListRequest<Row>): Promise<ListOutcome> {
  for (let restarts = 0; ; restarts += 1) {
    const outcome = await readOnce(request);
    if (outcome.ok || !outcome.expired) return outcome;
    request.onExpired?.(outcome.setback.message);
    if (restarts === maxRestarts) return outcome;
  }
}

type Reading = ListOutcome & { readonly expired?: boolean };

async function readOnce<Row>(request: ListRequest<Row>): Promise<Reading> {
  const take = request.begin();
  let continueToken: string | null = null;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const query = new URLSearchParams({ limit: String(request.pageSize) });
    if (continueToken !== null) query.set("continue", continueToken);
    const answer = await getGood(request.client, `${request.path}?${query}`, {
      accept: request.wire.listAccept,
      signal: request.signal,
      deadlineSeconds: request.pageDeadlineSeconds,
      maxBytes: request.maxPageBytes,
    });
    if (!answer.ok) return { ok: false, expired: answer.status === 410, setback: answer.setback };
    const page = request.wire.formatOf(answer.contentType).page(answer.body);
    if (!page.ok) return { ok: false, setback: failing(page.message) };
    for (const object of page.objects) take(object);
    if (page.continueToken === null) return { ok: true, resourceVersion: page.resourceVersion };
    continueToken = page.continueToken;
  }
  return { ok: false, setback: failing(`the list did not end within ${maxPages} pages`) };
}
