import { type AccountingEntries, noEntries } from "../analysis/accountingEntries.ts";
import type { Analysis } from "../analysis/analysis.ts";
import { keepShape } from "../kernel/inRanges.ts";
import { gpuStates } from "../model/gpuStates.ts";
import { type AccountInterner, createAccountInterner } from "./accountInterner.ts";
import {
  activeId,
  type Block,
  type Holder,
  Holders,
  type IndexByState,
  indexIn,
  noHolders,
  noIndices,
  type OwnerMemory,
  Places,
  setIndex,
  underutilizedId,
} from "./holders.ts";
import { countNodes, type NodeCount } from "./inventory.ts";
import type { Account, WorkloadKey } from "./posting.ts";
import { createQueueNames, type QueueNameOf } from "./queueNames.ts";

/** Everything of one moment that is counted in the same way: one account, one workload. */
export interface Line {
  readonly account: Account;
  /** Index of `account` in `AccountedMoment.accounts`. */
  readonly accountIndex: number;
  readonly workload: WorkloadKey | null;
}

/** The accounting entries of a moment by account and workload. */
export interface AccountedMoment {
  readonly lines: readonly Line[];
  /** The distinct accounts of all lines. */
  readonly accounts: readonly Account[];
  /**
   * Physical GPUs of each line now; 0 where only its counterpart (`active` or `underutilized`) has GPUs now, because the next
   * step may need both.
   */
  readonly gpus: Float64Array;
  /** For each accounting entry: index of its line. */
  readonly lineOf: Int32Array;
  /**
   * For each accounting entry: the lines of the same holder's `active` and `underutilized` GPUs; -1 for entries in other
   * states.
   */
  readonly activeLineOf: Int32Array;
  readonly underutilizedLineOf: Int32Array;
  readonly nodeCounts: readonly NodeCount[];
}

/**
 * Finds how the entries of a moment are counted. Each moment is looked at once, although it is the later end of one step and
 * the earlier end of the next. This only saves work: the postings would be the same with a new instance for each step.
 */
export interface AccountedMoments {
  of(analysis: Analysis): AccountedMoment;
}

/**
 * With more owners than this, all accounts are forgotten and numbering begins anew: names come from the cluster and have no
 * end.
 */
const mostOwners = 200_000;

/** Creates a memory of accounted moments. */
export function createAccountedMoments(): AccountedMoments {
  let accounts = createAccountInterner();
  let owners: OwnerMemory = new WeakMap();
  const queueNames = createQueueNames();
  const moments = new WeakMap<Analysis, AccountedMoment>();

  function of(analysis: Analysis): AccountedMoment {
    const known = moments.get(analysis);
    if (known !== undefined) return known;
    if (accounts.owners() > mostOwners) {
      accounts = createAccountInterner();
      owners = new WeakMap();
    }
    const moment = accountMoment(analysis, accounts, owners, queueNames.of(analysis));
    moments.set(analysis, moment);
    return moment;
  }

  return { of };
}

/** Finds the line of every accounting entry. Equal accounts are found by value, in any order of pods, nodes and entries. */
function accountMoment(
  analysis: Analysis,
  interner: AccountInterner,
  owners: OwnerMemory,
  queueOf: QueueNameOf,
): AccountedMoment {
  const found = new FoundLines(analysis, interner, new Holders(analysis.snapshot, interner, owners, queueOf));
  analysis.accountingEntries.addTo(found);
  const { lines, accounts, gpus, lineOf, activeLineOf, underutilizedLineOf } = found;
  return {
    lines,
    accounts,
    gpus: Float64Array.from(gpus),
    lineOf,
    activeLineOf,
    underutilizedLineOf,
    nodeCounts: countNodes(analysis),
  };
}

interface FoundIn extends Pick<Analysis, "accountingEntries"> {
  readonly snapshot: Pick<Analysis["snapshot"], "nodes">;
  readonly prices: Pick<Analysis["prices"], "byNode">;
}

/** The lines of a moment as far as its entries have been visited. */
class FoundLines {
  readonly lines: Line[] = [];
  readonly accounts: Account[] = [];
  readonly gpus: number[] = [];
  readonly lineOf: Int32Array;
  readonly activeLineOf: Int32Array;
  readonly underutilizedLineOf: Int32Array;
  readonly #entries: AccountingEntries;
  readonly #interner: AccountInterner;
  readonly #holders: Holders;
  readonly #places: Places;
  /** Index of the account of one owner at one place, by state. */
  readonly #byOwner: (Map<number, IndexByState> | undefined)[] = [];
  #lastPod = -1;
  #lastPlace = -1;
  #holder: Holder;
  #block: Block | null = null;

  constructor({ snapshot, accountingEntries, prices }: FoundIn, interner: AccountInterner, known: Holders) {
    this.#entries = accountingEntries;
    this.#interner = interner;
    this.#holders = known;
    this.#places = new Places(snapshot, accountingEntries, prices, interner);
    this.#holder = known.of(-1);
    this.lineOf = new Int32Array(accountingEntries.length);
    this.activeLineOf = new Int32Array(accountingEntries.length).fill(-1);
    this.underutilizedLineOf = new Int32Array(accountingEntries.length).fill(-1);
  }

  addRange(from: number, to: number): void {
    const { node, pool, pod, state, gpus } = this.#entries;
    for (let i = from; i < to; i++) {
      const block = this.#blockOf(pod[i] ?? -1, this.#places.of(node[i] ?? 0, pool[i] ?? 0));
      const stateId = state[i] ?? 0;
      const line = this.#lineIn(block, stateId);
      this.lineOf[i] = line;
      this.gpus[line] = (this.gpus[line] ?? 0) + (gpus[i] ?? 0);
      if (stateId !== activeId && stateId !== underutilizedId) continue;
      this.activeLineOf[i] = this.#lineIn(block, activeId);
      this.underutilizedLineOf[i] = this.#lineIn(block, underutilizedId);
    }
  }

  /**
   * The block of a pod's holder at a place. Neighbouring entries are mostly of one pod, and a holder mostly stays at one place,
   * so the last ones are tried first.
   */
  #blockOf(pod: number, place: number): Block {
    if (this.#block !== null && pod === this.#lastPod && place === this.#lastPlace) return this.#block;
    const holder = this.#holders.of(pod);
    const last = holder.block;
    let block = last;
    if (block === null || block.place !== place) {
      const accounts = this.#accountsOf(holder.owner, place);
      block = holder.others?.get(place) ?? { place, lines: noIndices(), accounts };
      if (last !== null) {
        holder.others ??= new Map([[last.place, last]]);
        holder.others.set(place, block);
      }
      holder.block = block;
    }
    this.#lastPod = pod;
    this.#lastPlace = place;
    this.#holder = holder;
    this.#block = block;
    return block;
  }

  #lineIn(block: Block, stateId: number): number {
    const known = indexIn(block.lines, stateId);
    return known >= 0 ? known : this.#openLine(block, stateId);
  }

  #openLine(block: Block, stateId: number): number {
    const { owner, workload } = this.#holder;
    let accountIndex = indexIn(block.accounts, stateId);
    if (accountIndex < 0) {
      const state = gpuStates[stateId] ?? "unobserved";
      accountIndex = this.accounts.push(this.#interner.account(owner, block.place, state)) - 1;
      setIndex(block.accounts, stateId, accountIndex);
    }
    const account = this.accounts[accountIndex];
    if (account === undefined) return 0;
    const line = this.lines.push({ account, accountIndex, workload }) - 1;
    this.gpus.push(0);
    setIndex(block.lines, stateId, line);
    return line;
  }

  #accountsOf(owner: number, place: number): IndexByState {
    const byPlace = this.#byOwner[owner] ?? new Map<number, IndexByState>();
    this.#byOwner[owner] = byPlace;
    const known = byPlace.get(place) ?? noIndices();
    byPlace.set(place, known);
    return known;
  }
}

keepShape(
  new FoundLines(
    { snapshot: { nodes: [] }, accountingEntries: noEntries, prices: { byNode: new Map() } },
    createAccountInterner(),
    noHolders,
  ),
);

/** Accounts in the order in which they get series of their own: those with the most GPUs first. */
export function largestFirst(accounts: readonly Account[], { lines, gpus }: AccountedMoment): readonly Account[] {
  if (accounts.length === 0) return [];
  const sums = new Map<Account, number>(accounts.map((account) => [account, 0] as const));
  for (const [i, { account }] of lines.entries()) {
    const sum = sums.get(account);
    if (sum !== undefined) sums.set(account, sum + (gpus[i] ?? 0));
  }
  const ranked = [...sums].map(([account, sum]) => ({ account, sum, name: JSON.stringify(account) }));
  return ranked.sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1)).map(({ account }) => account);
}

/** The accounts, among those whose index is `wanted`, that have a device which reports energy or power. */
export function meteredAccounts(
  { accountingEntries, snapshot }: Analysis,
  { lines, accounts, lineOf, activeLineOf, underutilizedLineOf }: AccountedMoment,
  wanted: boolean[],
): readonly Account[] {
  const found: Account[] = [];
  const indexOf = (line: number | undefined): number => lines[line ?? -1]?.accountIndex ?? -1;
  if (!wanted.includes(true)) return found;
  for (let i = 0; i < accountingEntries.length; i++) {
    const indices = [indexOf(lineOf[i]), indexOf(activeLineOf[i]), indexOf(underutilizedLineOf[i])];
    if (!indices.some((index) => wanted[index] === true)) continue;
    const reading = snapshot.devices[accountingEntries.device[i] ?? -1]?.reading;
    if (reading == null || (reading.energyJoules === null && reading.powerWatts === null)) continue;
    for (const index of indices) {
      const account = accounts[index];
      if (account === undefined || wanted[index] !== true) continue;
      wanted[index] = false;
      found.push(account);
    }
  }
  return found;
}
