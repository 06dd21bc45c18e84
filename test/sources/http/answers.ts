import fc from "fast-check";
import type { ReceiveLimits } from "../../../exporter/sources/http/limits.ts";
import { endOfBytes, takeBytes } from "../../../exporter/sources/http/responseReader.ts";
import {
  bodyOf,
  createBodyBuffers,
  startReading,
  stopReading,
} from "../../../exporter/sources/http/responseReading.ts";

/** What became of an answer: its body or an error's code, and what the connection is good for. */
export interface Outcome {
  /** One character a byte; `null` for a failure. */
  readonly body: string | null;
  readonly code: string | null;
  readonly keepsAlive: boolean;
  /** Body of an error. */
  readonly said: string | null;
}

const buffers = createBodyBuffers();
/** The one buffer that all reads go to, as in the client: what is not copied out of it is overwritten. */
const readBuffer = Buffer.alloc(65_536);
export const wideLimits: ReceiveLimits = { timeoutSeconds: 1, maxBytes: 1_000_000 };

/** Reads an answer that comes in these pieces and then ends. */
export function readPieces(pieces: readonly Buffer[], limits: ReceiveLimits = wideLimits): Outcome {
  const reading = startReading(limits, buffers);
  let step: ReturnType<typeof takeBytes> = "more";
  let body = "";
  for (const piece of pieces) {
    piece.copy(readBuffer);
    step = takeBytes(reading, readBuffer.subarray(0, piece.length));
    if (step === "done") body = bodyOf(reading).toString("latin1");
    if (step !== "more") break;
    readBuffer.fill("#");
  }
  let { keepsAlive } = reading;
  if (step === "more") {
    keepsAlive = false;
    step = endOfBytes(reading);
    if (step === "done") body = bodyOf(reading).toString("latin1");
  }
  stopReading(reading);
  if (step === "done") return { body, code: null, keepsAlive, said: null };
  return { body: null, code: step.code, keepsAlive: false, said: step.body ?? null };
}

export function readWhole(text: string, limits?: ReceiveLimits): Outcome {
  return readPieces([Buffer.from(text, "latin1")], limits);
}

/** The bytes cut at these places. */
export function cutAt(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((one, other) => one - other);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** An answer as it should be, and its body. */
export interface GoodAnswer {
  readonly text: string;
  readonly body: string;
}

const latin1 = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
const field = fc.constantFrom("Date: now", "X-Empty:", "x-latin: \xe4\t\xf6", "Keep-Alive: timeout=5", "Vary: a, b");
const head = (fields: readonly string[]): string => ["HTTP/1.1 200 OK", ...fields].join("\r\n");
const early = fc.constantFrom(
  "",
  "",
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
);

function chunkOf(data: string, isUpper: boolean, extension: string): string {
  const size = data.length.toString(16);
  return `${isUpper ? size.toUpperCase() : `0${size}`}${extension}\r\n${data}\r\n`;
}

/** Well-formed answers of all three framings. */
export const goodAnswers: fc.Arbitrary<GoodAnswer> = fc
  .record({
    early,
    fields: fc.array(field, { maxLength: 4 }),
    parts: fc.array(latin1, { maxLength: 5 }),
    framing: fc.constantFrom("length", "chunked", "close"),
    isUpper: fc.boolean(),
    extension: fc.constantFrom("", ";a", ";name=value", ';q="x y"'),
    trailers: fc.constantFrom("", "X-Sum: 1\r\n", "X-Sum: 1\r\nx-b:\r\n"),
  })
  .map(({ early, fields, parts, framing, isUpper, extension, trailers }) => {
    const body = parts.join("");
    if (framing === "length") {
      return { body, text: `${early}${head([...fields, `Content-Length: ${body.length}`])}\r\n\r\n${body}` };
    }
    if (framing === "close") return { body, text: `${early}${head([...fields, "Connection: close"])}\r\n\r\n${body}` };
    const chunks = parts.filter((part) => part !== "").map((part) => chunkOf(part, isUpper, extension));
    const end = `${head([...fields, "Transfer-Encoding: chunked"])}\r\n\r\n${chunks.join("")}0\r\n${trailers}\r\n`;
    return { body, text: `${early}${end}` };
  });

const insertions = [
  "\r",
  "\n",
  "\r\n",
  "\r\n\r\n",
  "0",
  " ",
  ":",
  ";",
  "\0",
  "f",
  "-",
  "Content-Length: 3\r\n",
  "chunked",
];

/** Answers with a few bytes taken out, doubled or put in. */
export const oddAnswers: fc.Arbitrary<string> = fc
  .tuple(
    goodAnswers,
    fc.array(
      fc.record({
        at: fc.nat(400),
        removes: fc.nat(3),
        text: fc.constantFrom("", ...insertions),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  )
  .map(([{ text }, edits]) =>
    edits.reduce((known, { at, removes, text: more }) => {
      const place = at % (known.length + 1);
      return known.slice(0, place) + more + known.slice(place + removes);
    }, text),
  );
