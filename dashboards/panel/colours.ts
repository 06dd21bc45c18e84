/** What a colour means, everywhere: blue says nothing, green is good, amber is to be watched, red asks for something now. */
export const colours = {
  neutral: "blue",
  good: "green",
  watch: "orange",
  act: "red",
  /** Between the two: nobody gets anything from it, and its owner does not know. */
  worse: "dark-orange",
  unknown: "#8e8e8e",
  /** More things that are distinguished and are not judged. */
  other: "purple",
  third: "light-green",
  fourth: "yellow",
} as const;

export type Colour = keyof typeof colours;

/** What GPUs do, as charts name and colour it. */
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
