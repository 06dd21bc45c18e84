/** What a colour means, everywhere: blue says nothing, green is good, amber is to be watched, red asks for something now. */
export const colours = {
  neutral: "blue",
  good: "green",
  watch: "orange",
  act: "red",
  unknown: "#8e8e8e",
  /** More things that are told apart and are not judged. */
  other: "purple",
  third: "light-green",
  fourth: "yellow",
} as const;

export type Colour = keyof typeof colours;
