import type { Analysis } from "../analysis/analysis.ts";
import { gpuStates, stateIds } from "../model/gpuStates.ts";
import { type AccountInterner, createAccountInterner } from "./accountInterner.ts";
import {
  activeId,
  type Block,
  type Holder,
  holders,
  type IndexByState,
  indexIn,
  noIndices,
  type OwnerMemory,
  places,
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
  const { snapshot, accountingEntries, prices } = analysis;
  const holderOf = holders(snapshot, interner, owners, queueOf);
  const placeOf = places(snapshot, prices, interner);
  const accounts = accountList(interner);
  const blockOf = blocks(accounts.of);
  const lines: Line[] = [];
  const gpus: number[] = [];
  const lineOf = new Int32Array(accountingEntries.length);
  const activeLineOf = new Int32Array(accountingEntries.length).fill(-1);
  const underutilizedLineOf = new Int32Array(accountingEntries.length).fill(-1);

  const openLine = (block: Block, holder: Holder, stateId: number): number => {
    let accountIndex = indexIn(block.accounts, stateId);
    if (accountIndex < 0) {
      accountIndex = accounts.add(holder.owner, block.place, stateId);
      setIndex(block.accounts, stateId, accountIndex);
    }
    const account = accounts.list[accountIndex];
    if (account === undefined) return 0;
    const line = lines.push({ account, accountIndex, workload: holder.workload }) - 1;
    gpus.push(0);
    setIndex(block.lines, stateId, line);
    return line;
  };
  const lineIn = (block: Block, holder: Holder, stateId: number): number => {
    const known = indexIn(block.lines, stateId);
    return known >= 0 ? known : openLine(block, holder, stateId);
  };

  for (let i = 0; i < accountingEntries.length; i++) {
    const accountingEntry = accountingEntries[i];
    if (accountingEntry === undefined) continue;
    const holder = holderOf(accountingEntry.pod);
    const block = blockOf(holder, placeOf(accountingEntry));
    const { state } = accountingEntry;
    const isSplit = state === "active" || state === "underutilized";
    const stateId =
      state === "active" ? activeId : state === "underutilized" ? underutilizedId : (stateIds.get(state) ?? 0);
    const line = lineIn(block, holder, stateId);
    lineOf[i] = line;
    gpus[line] = (gpus[line] ?? 0) + accountingEntry.gpus;
    if (!isSplit) continue;
    activeLineOf[i] = lineIn(block, holder, activeId);
    underutilizedLineOf[i] = lineIn(block, holder, underutilizedId);
  }
  return {
    lines,
    accounts: accounts.list,
    gpus: new Float64Array(gpus),
    lineOf,
    activeLineOf,
    underutilizedLineOf,
    nodeCounts: countNodes(analysis),
  };
}

/** The accounts of one moment, each once. */
function accountList(interner: AccountInterner) {
  const list: Account[] = [];
  const byOwner: (Map<number, IndexByState> | undefined)[] = [];
  return {
    list,
    /** Index of the account of one owner at one place, by state. */
    of(owner: number, place: number): IndexByState {
      let byPlace = byOwner[owner];
      if (byPlace === undefined) {
        byPlace = new Map();
        byOwner[owner] = byPlace;
      }
      const known = byPlace.get(place);
      if (known !== undefined) return known;
      const indices: IndexByState = noIndices();
      byPlace.set(place, indices);
      return indices;
    },
    add(owner: number, place: number, stateId: number): number {
      return list.push(interner.account(owner, place, gpuStates[stateId] ?? "unobserved")) - 1;
    },
  };
}

/**
 * Finds the block of a holder at a place. A holder mostly stays at one place, so its last block is tried first; most holders
 * never have another.
 */
function blocks(accountsOf: (owner: number, place: number) => IndexByState): (holder: Holder, place: number) => Block {
  return (holder, place) => {
    const last = holder.block;
    if (last?.place === place) return last;
    const block = holder.others?.get(place) ?? {
      place,
      lines: noIndices(),
      accounts: accountsOf(holder.owner, place),
    };
    if (last !== null) {
      holder.others ??= new Map([[last.place, last]]);
      holder.others.set(place, block);
    }
    holder.block = block;
    return block;
  };
}

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
    const reading = snapshot.devices[accountingEntries[i]?.device ?? -1]?.reading;
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
