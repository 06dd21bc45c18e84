/** Styles are the bundler's. */
declare module "@fontsource/*";
