/** A URL that may be shown: without user, password, query and fragment. */
export function shownAddress(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
}
