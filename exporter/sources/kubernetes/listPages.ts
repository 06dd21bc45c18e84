import type { ApiClient } from "./apiClient.ts";
import { failing, type Setback, setbackOf } from "./setback.ts";
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
  /** Called when a list begins, and again when it has to begin anew; what came before is void. */
  readonly begin: () => (object: DecodedObject<Row>) => void;
  /** Called when the list begins again because its continue token was not taken any more. */
  readonly onExpired?: (message: string) => void;
}

export type ListOutcome =
  | { readonly ok: true; readonly resourceVersion: string }
  | { readonly ok: false; readonly setback: Setback };

/** A list that expires this often while it is read is too slow for the server. */
const maxRestarts = 3;
/** A server that never ends its list must not fill the memory. */
const maxPages = 20_000;

/** Reads all pages of a list. A continue token that has expired (410) starts the list anew. */
export async function listPages<Row>(request: ListRequest<Row>): Promise<ListOutcome> {
  let expired: Setback = failing("the list expired");
  for (let attempt = 0; attempt <= maxRestarts; attempt += 1) {
    const outcome = await readOnce(request);
    if (outcome.ok || !outcome.expired) return outcome;
    expired = outcome.setback;
    request.onExpired?.(expired.message);
  }
  return { ok: false, setback: expired };
}

type Reading =
  | { readonly ok: true; readonly resourceVersion: string }
  | { readonly ok: false; readonly expired: boolean; readonly setback: Setback };

async function readOnce<Row>(request: ListRequest<Row>): Promise<Reading> {
  const take = request.begin();
  let continueToken: string | null = null;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const query = new URLSearchParams({ limit: String(request.pageSize) });
    if (continueToken !== null) query.set("continue", continueToken);
    const answer = await request.client.get(`${request.path}?${query}`, {
      accept: request.wire.listAccept,
      signal: request.signal,
      deadlineSeconds: request.pageDeadlineSeconds,
      maxBytes: request.maxPageBytes,
    });
    if (!answer.ok) return { ok: false, expired: false, setback: failing(answer.message) };
    if (answer.status !== 200) {
      const setback = setbackOf(answer.status, answer.body, answer.retryAfterSeconds);
      return { ok: false, expired: answer.status === 410, setback };
    }
    const page = request.wire.formatOf(answer.contentType).page(answer.body);
    if (!page.ok) return { ok: false, expired: false, setback: failing(page.message) };
    for (const object of page.objects) take(object);
    if (page.continueToken === null) return { ok: true, resourceVersion: page.resourceVersion };
    continueToken = page.continueToken;
  }
  return { ok: false, expired: false, setback: failing(`the list did not end within ${maxPages} pages`) };
}
