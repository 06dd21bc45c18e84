/** What a page may have beside its text, as sources of a Content-Security-Policy. */
export interface PageSources {
  readonly styles: readonly string[];
  /** Such a script may also ask Fairlead itself; empty: no script runs, and nothing is asked. */
  readonly scripts: readonly string[];
}

/** The Content-Security-Policy of HTML pages: their own styles and scripts by their hashes, and icons within the page. */
export function contentPolicy({ styles, scripts }: PageSources): string {
  const running = scripts.length === 0 ? "" : `script-src ${scripts.join(" ")}; connect-src 'self'; `;
  return `default-src 'none'; style-src ${styles.join(" ")}; ${running}img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;
}
