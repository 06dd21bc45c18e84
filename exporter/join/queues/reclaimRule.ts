/** What a scheduler takes back of others for a queue, and of it for others. */
export interface ReclaimRule {
  /** Work of any priority, of a lower one than that which waits, or none at all. */
  readonly takes: "any" | "lower-priority" | "nothing";
  /** How much the queue may hold with what is taken back for it. */
  readonly upTo: "guarantee" | "entitlement";
  /** Whether anything is taken of what it borrows. */
  readonly gives: boolean;
  /** Work of this priority and above is never taken; `null`: there is no such priority. */
  readonly keptFromPriority: number | null;
  /** The setting that says so, in the words of the object: what to look at where nothing is moved. */
  readonly setting: string;
}
