import { performance } from "node:perf_hooks";
import type { Request, RequestHandler, Response } from "express";
import { addressOf } from "./caller.ts";

/** How many answers are under way at once, and how many may wait for their turn. */
export interface TurnLimits {
  readonly atOnce: number;
  readonly waiting: number;
  /** Milliseconds for which an answer may make no progress before it is cut; by default 20,000. */
  readonly standstill?: number;
  /**
   * Milliseconds for which a reader may keep an answer waiting, in all, before it gives way to one that waits; by default
   * 2,000.
   */
  readonly slow?: number;
  /** Milliseconds that a request waits for its turn at most; by default 30,000. */
  readonly patience?: number;
}

/** Interval of the checks for slow readers, milliseconds. */
const lookMilliseconds = 250;

/** After how long refused callers are asked to come back, seconds. */
const retrySeconds = 5;

interface Turn {
  readonly address: string;
  readonly response: Response;
  /** Bytes that had been handed over at the last look. */
  written: number;
  /** Milliseconds since its reader took anything; 0 while nothing waits for the reader. */
  still: number;
  /** Milliseconds that it has waited for its reader, in all. */
  waitedFor: number;
  /** How many pieces of work for it go on, whether anybody reads the answer or not. */
  works: number;
}

const turns = new WeakMap<Response, { readonly turn: Turn; readonly over: () => void }>();

/**
 * Keeps the place of an answer occupied until the returned function is called, even after its reader has gone: an answer that
 * is computed for nobody takes as much memory as any other.
 */
export function keepTurn(response: Response): () => void {
  const known = turns.get(response);
  if (known === undefined) return () => {};
  known.turn.works += 1;
  let isKept = true;
  return () => {
    if (!isKept) return;
    isKept = false;
    known.turn.works -= 1;
    if (response.destroyed || response.writableFinished) known.over();
  };
}

interface Waiting {
  readonly address: string;
  readonly response: Response;
  /** When it began to wait, milliseconds on a clock that is never set. */
  readonly since: number;
  readonly begin: () => void;
}

/**
 * Lets requests pass when it is their turn, so that readers who take nothing can neither fill the memory nor keep others out.
 * The number of answers under way is bounded. The next request is one whose address is served least; if too many wait, one of
 * the address with the most waiting requests gives up its place. An answer that makes no progress is cut, and sooner where
 * others wait for its place. A place is given back when the answer is handed over, or its reader has gone and nothing is
 * computed for it any more (`keepTurn`).
 */
export function inTurn(limits: TurnLimits): RequestHandler {
  const { atOnce, waiting: maxWaiting, standstill = 20_000, slow = 2_000, patience = 30_000 } = limits;
  const running = new Set<Turn>();
  const waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | null = null;
  let lookedAt = 0;

  const begin = (address: string, response: Response, next: () => void): void => {
    const turn: Turn = { address, response, written: bytesOf(response), still: 0, waitedFor: 0, works: 0 };
    running.add(turn);
    const over = (): void => {
      if (turn.works === 0 && running.delete(turn)) fill();
    };
    turns.set(response, { turn, over });
    response.once("finish", over).once("close", over);
    if (timer === null) {
      lookedAt = performance.now();
      timer = setInterval(look, lookMilliseconds).unref();
    }
    next();
  };

  const fill = (): void => {
    while (running.size < atOnce && waiting.length > 0) {
      const [first] = waiting.splice(nextIn(waiting, running), 1);
      first?.begin();
    }
    if (running.size === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };

  const look = (): void => {
    const now = performance.now();
    // If this process itself was stopped for a while, no reader kept anybody waiting.
    const passed = Math.min(now - lookedAt, 2 * lookMilliseconds);
    lookedAt = now;
    for (const turn of running) {
      const written = bytesOf(turn.response);
      const stands = isWaitedFor(turn.response) && written === turn.written;
      turn.still = stands ? turn.still + passed : 0;
      if (stands) turn.waitedFor += passed;
      turn.written = written;
      if (turn.still >= standstill) turn.response.destroy();
    }
    // As many slow answers give way as requests wait: first those of the addresses that are served most, and among these the
    // ones that have waited longest for their readers.
    const served = countByAddress(running);
    const slowest = [...running]
      .filter(({ response, waitedFor }) => waitedFor >= slow && !response.destroyed)
      .sort((a, b) => (served.get(b.address) ?? 0) - (served.get(a.address) ?? 0) || b.waitedFor - a.waitedFor);
    for (const { response } of slowest.slice(0, waiting.length)) response.destroy();
    while ((waiting[0]?.since ?? now) + patience < now)
      for (const { response } of waiting.splice(0, 1)) refuse(response);
  };

  return (request: Request, response: Response, next) => {
    const address = addressOf(request.socket);
    if (running.size < atOnce && waiting.length === 0) return begin(address, response, next);
    if (waiting.length >= maxWaiting) {
      const place = placeToGiveUp(waiting, address);
      if (place === null) return refuse(response);
      for (const given of waiting.splice(place, 1)) refuse(given.response);
    }
    const one: Waiting = {
      address,
      response,
      since: performance.now(),
      begin: () => {
        response.off("close", gone);
        begin(address, response, next);
      },
    };
    const gone = (): void => {
      const place = waiting.indexOf(one);
      if (place >= 0) waiting.splice(place, 1);
    };
    response.once("close", gone);
    waiting.push(one);
  };
}

/** Index of the request that comes next: the one that has waited longest, of the address that is served least. */
function nextIn(waiting: readonly Waiting[], running: ReadonlySet<Turn>): number {
  const served = countByAddress(running);
  let best = 0;
  for (const [place, { address }] of waiting.entries()) {
    if ((served.get(address) ?? 0) < (served.get(waiting[best]?.address ?? "") ?? 0)) best = place;
  }
  return best;
}

/**
 * Index of the request that gives up its place for one more request of an address: the last one of the address with the most
 * waiting requests; `null` if none has more than the new one's.
 */
function placeToGiveUp(waiting: readonly Waiting[], address: string): number | null {
  const counts = countByAddress(waiting);
  const own = (counts.get(address) ?? 0) + 1;
  let last: number | null = null;
  let most = own;
  for (const [place, { address: other }] of waiting.entries()) {
    const count = counts.get(other) ?? 0;
    if (count < most || count <= own) continue;
    most = count;
    last = place;
  }
  return last;
}

function countByAddress(all: Iterable<{ readonly address: string }>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { address } of all) counts.set(address, (counts.get(address) ?? 0) + 1);
  return counts;
}

/** Whether a part of the answer is ready and its reader does not take it. */
const isWaitedFor = (response: Response): boolean =>
  !response.destroyed && (response.writableNeedDrain || response.writableEnded);

const bytesOf = (response: Response): number => response.socket?.bytesWritten ?? 0;

function refuse(response: Response): void {
  response
    .status(503)
    .set("Retry-After", `${retrySeconds}`)
    .json({
      error: "too many answers are being read at once",
      nextStep: `Ask again in ${retrySeconds} seconds, and take answers as they come.`,
    });
}
