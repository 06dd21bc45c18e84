/** What a scheduler takes back from others for a queue, and from the queue for others. */
export interface ReclaimRule {
  /** The work of others that it takes: of any priority, only of a lower priority than the waiting work has, or none at all. */
  readonly takes: "any" | "lower-priority" | "nothing";
  /** How much the queue may hold including what is taken back for it. */
  readonly upTo: "guarantee" | "entitlement";
  /** Whether anything that it borrows may be taken from it. */
  readonly gives: boolean;
  /** Work of this priority and above is never taken; `null`: there is no such priority. */
  readonly keptFromPriority: number | null;
  /** The setting that decides it, in the words of the object: what to look at if nothing is moved. */
  readonly setting: string;
}
