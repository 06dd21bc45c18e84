/** How the end of a body is known: by its announced length, chunk by chunk, or by the end of the connection. */
export type BodyFraming = "length" | "chunked" | "close";

/** What the head of an HTTP/1 answer determines about the rest of the answer. */
export interface ResponseHead {
  readonly status: number;
  readonly framing: BodyFraming;
  /** The announced number of bytes of the body; 0 unless `framing` is `length`. */
  readonly length: number;
  /** `content-encoding` in lower case; `null` without one. */
  readonly contentEncoding: string | null;
  /** Whether the connection can carry another request afterwards. */
  readonly keepsAlive: boolean;
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
// RFC 9110 5.1 and 5.5: a token, no blank before the colon, no control character in the value, no folded line.
const fieldLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/;
/** A number of at most this many digits is surely a safe integer. */
const contentLength = /^\d{1,15}$/;

/**
 * Parses a head, with one character for each byte, from the status line up to the blank line that ends it. If anything is
 * wrong, returns a clause that says what: an answer whose end two readers could see at different places (RFC 9112 6.3, 11.2) is
 * no answer. Like node's own parser, this is stricter than the standard: a length beside chunks, a length given twice, a coding
 * other than `chunked`, chunks in HTTP/1.0, and line ends other than CR LF are all refused. Pure.
 */
export function parseResponseHead(text: string): ResponseHead | string {
  const [first = "", ...lines] = text.split("\r\n");
  const status = statusLine.exec(first);
  if (status === null) return "the status line is malformed";
  const isOld = status[1] === "0";
  const fields: Fields = { length: null, isChunked: false, contentEncoding: null, closes: isOld };
  for (const line of lines) {
    const field = fieldLine.exec(line);
    if (field === null) return "a header line is malformed";
    const fault = takeField(fields, (field[1] ?? "").toLowerCase(), trimBlanks(field[2] ?? ""));
    if (fault !== null) return fault;
  }
  const { length, isChunked, contentEncoding, closes } = fields;
  if (isChunked && isOld) return "it has chunks, which HTTP/1.0 does not know";
  if (isChunked && length !== null) return "it announces a length and chunks";
  const framing = isChunked ? "chunked" : length === null ? "close" : "length";
  const keepsAlive = !closes && framing !== "close";
  return { status: Number(status[2]), framing, length: length ?? 0, contentEncoding, keepsAlive };
}

/** What the fields of a head have determined so far. */
interface Fields {
  length: number | null;
  isChunked: boolean;
  contentEncoding: string | null;
  closes: boolean;
}

/** Takes in a field, its name in lower case; returns what is wrong with it. */
function takeField(fields: Fields, name: string, value: string): string | null {
  switch (name) {
    case "content-length":
      if (fields.length !== null) return "the length is announced twice";
      if (!contentLength.test(value)) return "the announced length is no number";
      fields.length = Number(value);
      return null;
    case "transfer-encoding":
      if (fields.isChunked || value.toLowerCase() !== "chunked") return "the transfer coding is not known";
      fields.isChunked = true;
      return null;
    case "content-encoding":
      fields.contentEncoding = `${fields.contentEncoding === null ? "" : `${fields.contentEncoding}, `}${value.toLowerCase()}`;
      return null;
    case "connection":
      fields.closes ||= namesClose(value);
      return null;
    default:
      return null;
  }
}

/** Whether all lines are header fields. Nothing more is required of trailers, because they are not used. */
export function areFieldLines(text: string): boolean {
  return text === "" || text.split("\r\n").every((line) => fieldLine.test(line));
}

function namesClose(value: string): boolean {
  return value
    .toLowerCase()
    .split(",")
    .some((option) => trimBlanks(option) === "close");
}

/** The text without blanks and tabs at both ends; `trim` would remove more. */
function trimBlanks(text: string): string {
  return text.replace(/^[\t ]+|[\t ]+$/g, "");
}
