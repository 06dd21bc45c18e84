import type { Problem } from "../../model/problem.ts";

/** The codes of the problems that a ledger's file can have. */
export type LedgerFault = keyof typeof nextSteps;

const nextSteps = {
  "ledger-directory-missing": "Create the folder (or mount the volume there), or correct ledger.path.",
  "ledger-not-a-file": "Set ledger.path to a file, such as /var/lib/fairlead/ledger.db.",
  "ledger-missing": "Check the path; `fairlead serve` creates the ledger that its configuration names (ledger.path).",
  "ledger-not-sqlite": "Set ledger.path to another file, or move this one away; it was left as it is.",
  "ledger-foreign": "Set ledger.path to another file; this one belongs to another program and was left as it is.",
  "ledger-newer-version":
    "Start the version of Fairlead that wrote it, or a newer one, or move the file away to begin a new ledger; it was left as it is.",
  "ledger-older-version":
    "Start `fairlead serve` on it once, which brings it up to date, or use the version that wrote it.",
  "ledger-corrupt":
    "Restore a backup, or move the file (with its -wal and -shm) away to begin a new ledger; it was left as it is.",
  "ledger-read-only":
    "Give Fairlead's user permission to write the file and its folder (a read-only mount does not do).",
  "ledger-locked": "Stop the other process, or give each replica a ledger of its own.",
  "ledger-no-wal":
    "Put the ledger on block storage (a volume of access mode ReadWriteOnce) or a local disk: network file systems cannot hold it.",
  "ledger-disk-full": "Free space on the disk that holds the ledger, or enlarge the volume.",
  "ledger-io-error": "Check the disk and the mount that hold the ledger; the kernel's log says more.",
  "ledger-replaced":
    "Put the file back, or restart Fairlead to go on with the one that is there: it writes to the ledger that it opened, and to no other.",
  "ledger-log-set-aside":
    "Nothing, if the file was meant to be replaced: remove the log, or keep it with the file it belongs to, under that file's name and -wal.",
  "ledger-foreign-log":
    "If the file was put in place of another, move the -wal and -shm beside it away and start again; if not, restore a backup. Nothing was changed.",
  "ledger-linked":
    "Give the ledger one name, and mount its folder: remove the other links, or copy the file (`fairlead ledger backup`).",
  "ledger-rejected": "This is a fault in Fairlead: please report it.",
  "ledger-writer-ended": "The thread is started again by itself; if this repeats, please report it.",
  "ledger-backup-exists": "Give a name that is not there yet; a backup never replaces a file.",
  "ledger-backup-folder": "Create the folder, or give another target.",
  "ledger-backup-temporary":
    "Free some space in the folder for temporary files (TMPDIR, else /tmp), which holds the copy while it is sent, and allow Fairlead's user to write there.",
  "ledger-restore-exists":
    "Stop Fairlead and give --replace, which keeps this ledger under another name, or choose another file.",
  "ledger-restore-empty": "Send a copy that `fairlead ledger backup` wrote to standard input, or name it with --from.",
  "ledger-merge-exists": "Give a name that is not there yet; a merge never replaces a file.",
  "ledger-merge-folder": "Create the folder, or give another file with --output.",
  "ledger-merge-many": "Merge some of them first, and the results of that.",
  "ledger-merge-clusters": "Merge ledgers of one cluster only; for several clusters use fairlead review --merge.",
  "ledger-time-lost": "Reports show the time as not covered. Repair what keeps the ledger from being written.",
} as const;

/** A problem with a ledger; `found` continues the sentence after the file's name ("is a folder"). */
export function ledgerProblem(code: LedgerFault, file: string, found: string): Problem {
  const message = `ledger ${file} ${found}`;
  const severity = code === "ledger-time-lost" || code === "ledger-log-set-aside" ? "warning" : "error";
  return { source: "ledger", code, severity, subject: file, message, nextStep: nextSteps[code] };
}

/** A value, or the problem that prevented it. */
export type OrProblem<Value> = (Value & { readonly ok: true }) | { readonly ok: false; readonly problem: Problem };
