/** Styles are read by the bundler only. */
declare module "@fontsource/*";
