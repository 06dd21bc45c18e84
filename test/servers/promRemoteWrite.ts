/** Labels of a series, its name among them as `__name__`. */
export type Labels = Readonly<Record<string, string>>;

/** Milliseconds since the epoch, and the value then; `null`: the series has ended, as when a scrape does not have it any more. */
export type WrittenSample = readonly [at: number, value: number | null];

/** What is written of one series, in the order of time. */
export interface WrittenSeries {
  readonly labels: Labels;
  readonly samples: readonly WrittenSample[];
}

/**
 * Writes samples with times of their own into a Prometheus that runs with `--web.enable-remote-write-receiver`. An import of
 * OpenMetrics would do for values, but cannot say that a series has ended. Throws with the server's words when it refuses.
 */
export async function writeSeries(url: string, series: readonly WrittenSeries[]): Promise<void> {
  if (series.length === 0) return;
  const response = await fetch(`${url}/api/v1/write`, {
    method: "POST",
    headers: { "content-encoding": "snappy", "content-type": "application/x-protobuf" },
    body: snappy(Buffer.concat(series.map((one) => part(1, timeSeries(one))))),
  });
  if (!response.ok) throw new Error(`remote write: ${response.status} ${await response.text()}`);
}

/** What each writer wrote last, so that the series that are gone since can be ended. */
export class EndingWriter {
  readonly #url: string;
  readonly #before = new Map<string, ReadonlyMap<string, Labels>>();

  constructor(url: string) {
    this.#url = url;
  }

  /** Writes what a target or a rule gives at a moment, in milliseconds, and ends what it does not give any more. */
  async write(writer: string, at: number, samples: readonly (readonly [Labels, number])[]): Promise<void> {
    const now = new Map(samples.map(([labels]) => [JSON.stringify(labels), labels] as const));
    const gone = [...(this.#before.get(writer) ?? [])].filter(([key]) => !now.has(key));
    this.#before.set(writer, now);
    await writeSeries(this.#url, [
      ...samples.map(([labels, value]) => ({ labels, samples: [[at, value] as const] })),
      ...gone.map(([, labels]) => ({ labels, samples: [[at, null] as const] })),
    ]);
  }
}

/** `TimeSeries` of Prometheus' remote write 1.0: labels by name, then samples. */
function timeSeries({ labels, samples }: WrittenSeries): Buffer {
  let encoded = encodedLabels.get(labels);
  if (encoded === undefined) {
    const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
    encoded = Buffer.concat(
      sorted.map(([name, value]) => part(1, Buffer.concat([part(1, Buffer.from(name)), part(2, Buffer.from(value))]))),
    );
    encodedLabels.set(labels, encoded);
  }
  return Buffer.concat([encoded, ...samples.map((sample) => part(2, encodedSample(sample)))]);
}

/** A page has the same series each time. */
const encodedLabels = new WeakMap<Labels, Buffer>();

/** Prometheus' own mark for the end of a series: one of the many values that are not a number. */
const staleMark = 0x7ff0000000000002n;

function encodedSample([at, value]: WrittenSample): Buffer {
  const double = Buffer.alloc(9);
  double[0] = 0x09;
  if (value === null) double.writeBigUInt64LE(staleMark, 1);
  else double.writeDoubleLE(value, 1);
  return Buffer.concat([double, Buffer.from([0x10, ...varint(at)])]);
}

/** A field of Protocol Buffers with a length. */
function part(field: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([field * 8 + 2, ...varint(content.length)]), content]);
}

function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

const literalBytes = 1 << 16;

/** The block format of Snappy with literals only, which every reader takes. */
function snappy(content: Buffer): Buffer<ArrayBuffer> {
  const parts: Buffer[] = [Buffer.from(varint(content.length))];
  for (let from = 0; from < content.length; from += literalBytes) {
    const literal = content.subarray(from, from + literalBytes);
    const head = Buffer.from([61 << 2, 0, 0]);
    head.writeUInt16LE(literal.length - 1, 1);
    parts.push(head, literal);
  }
  return Buffer.concat(parts);
}
