/** What a colour means everywhere: blue is neutral, green is good, amber should be watched, and red needs action now. */
export const colours = {
  neutral: "blue",
  good: "green",
  watch: "orange",
  act: "red",
  /** A state between the two: nobody benefits from it, and its owner does not know. */
  worse: "dark-orange",
  unknown: "#8e8e8e",
  /** Further values that are distinguished but not judged. */
  other: "purple",
  third: "light-green",
  fourth: "yellow",
} as const;

export type Colour = keyof typeof colours;

/** The states of GPUs, as charts name and colour them. */
export const stateColours = {
  Busy: "good",
  "Hardly used": "third",
  "Idle, allocated": "watch",
  Stalled: "worse",
  Starting: "other",
  Free: "neutral",
  "Not usable": "act",
  Unknown: "unknown",
} as const satisfies Readonly<Record<string, Colour>>;
