/** A page of a server without TLS. */
export interface PlainPage {
  /** The URL as it was given. */
  readonly url: string;
  /** Name or address of the server, an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The headers as they were given. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The request up to, but without, the `authorization` header and the blank line. */
  readonly requestStart: string;
}

const token = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that decide where a message ends, or which server answers next. The caller cannot set them. */
const reserved: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * The request for a page at a URL that can be parsed. It is made once and sent many times. `null` where a header cannot be
 * sent. `own` headers replace those that were given. Pure.
 */
export function plainPage(
  url: string,
  own: Readonly<Record<string, string>>,
  given?: Readonly<Record<string, string>>,
): PlainPage | null {
  const { host, hostname, port, pathname, search } = new URL(url);
  const headers = new Map<string, string>([["host", host]]);
  for (const [name, value] of Object.entries(given ?? {})) headers.set(name.toLowerCase(), value);
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  const lines = [`GET ${pathname}${search} HTTP/1.1\r\n`];
  for (const [name, value] of headers) {
    if (!token.test(name) || !fieldValue.test(value) || reserved.has(name)) return null;
    lines.push(`${name}: ${value}\r\n`);
  }
  lines.push("connection: keep-alive\r\n");
  return {
    url,
    host: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: port === "" ? 80 : Number(port),
    headers: given,
    requestStart: lines.join(""),
  };
}

/** The whole request; `null` where the credentials cannot be sent. */
export function plainRequest({ requestStart }: PlainPage, authorization: string | null): string | null {
  if (authorization === null) return `${requestStart}\r\n`;
  return fieldValue.test(authorization) ? `${requestStart}authorization: ${authorization}\r\n\r\n` : null;
}
