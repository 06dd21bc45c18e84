import { isDeepStrictEqual } from "node:util";
import { readPage, splitByHost } from "../../../bench/naive/dcgm/reduce.ts";
import { changedReading } from "../../../exporter/model/changedReading.ts";
import type { Problem } from "../../../exporter/model/problem.ts";
import type { DeviceReading, TelemetryPage } from "../../../exporter/model/telemetry.ts";
import {
  createPageReader,
  type PageReaderOptions,
  type ReaderResult,
} from "../../../exporter/sources/dcgm/pageReader.ts";
import { plainData } from "../../plainData.ts";

/** What the naive reader makes of a page, whatever came before it. */
export function readNaively(
  bytes: Uint8Array,
  options: PageReaderOptions,
  receivedAt: number,
): { readonly pages: readonly TelemetryPage[]; readonly problems: readonly Problem[] } {
  const { target, node, origin, limits } = options;
  const context = { target, node, origin, receivedAt, ...(limits === undefined ? {} : { limits }) };
  if (options.splitsByHost) return splitByHost(bytes, context);
  const { page, problems } = readPage(bytes, context);
  return { pages: page === null ? [] : [page], problems };
}

/** A reader beside its naive twin: each page is read by both, and what is wrong with the answer is said. */
export interface TwinReader {
  /** `null`, or how the reader's answer differs from the twin's or breaks its word about identity. */
  read(bytes: Uint8Array, receivedAt: number): string | null;
  last(): ReaderResult | null;
}

export function createTwinReader(options: PageReaderOptions): TwinReader {
  const reader = createPageReader(options);
  let last: ReaderResult | null = null;
  let lastAsItWas: unknown = null;
  return {
    last: () => last,
    read: (bytes, receivedAt) => {
      const naive = readNaively(bytes, options, receivedAt);
      const fast = reader.read(bytes, receivedAt);
      const before = last;
      const wasTouched = before !== null && !isDeepStrictEqual(plainData(before.pages), lastAsItWas);
      if (fast.pages.length > 0) {
        last = fast;
        lastAsItWas = plainData(fast.pages);
      }
      if (wasTouched) return "an earlier page was changed";
      if (!isDeepStrictEqual(plainData(fast.pages), naive.pages)) return "other pages than the naive reader's";
      if (!isDeepStrictEqual(fast.problems, naive.problems)) return "other problems than the naive reader's";
      return before === null || fast.pages.length === 0 ? null : brokenIdentity(before, fast);
    },
  };
}

/** The same content must be the same object where a device is found again. */
function brokenIdentity(before: ReaderResult, now: ReaderResult): string | null {
  const earlier = byKey(before);
  const found = byKey(now);
  // Two hosts that claim one device: whose readings go on is not known.
  if (earlier === null || found === null) return null;
  // Devices in another order (of hosts whose names changed) count as moved.
  let moved = !isDeepStrictEqual([...earlier.keys()], [...found.keys()]);
  for (const [key, device] of found) {
    const other = earlier.get(key);
    if (other === undefined) {
      moved = true;
      continue;
    }
    if ((device.claimants === other.claimants) !== isDeepStrictEqual(device.claimants, other.claimants))
      return `claimants of ${key}`;
    const { claimants: _one, ...measured } = changedReading(device, {});
    const { claimants: _other, ...measuredBefore } = changedReading(other, {});
    moved ||= Object.entries(measured).some(
      ([name, value]) =>
        typeof value === "number" && name !== "virtualSlots" && !Object.is(value, Reflect.get(measuredBefore, name)),
    );
    moved ||= Object.entries(measuredBefore).some(
      ([name, value]) => typeof value === "number" && name !== "virtualSlots" && Reflect.get(measured, name) === null,
    );
  }
  return moved === now.hasMoved ? null : `hasMoved is ${now.hasMoved}`;
}

function byKey({ pages }: ReaderResult): ReadonlyMap<string, DeviceReading> | null {
  const devices = pages.flatMap((page) => page.devices);
  const keyed = new Map(devices.map((device) => [JSON.stringify([device.uuid, device.gpuInstance]), device]));
  return keyed.size === devices.length ? keyed : null;
}
