/**
 * What was looked at and not advised, and why: a row for each reason that stood for a quarter of an hour without a longer pause than half an hour. Times are seconds since
 * the epoch; `ends` is when it was seen to be so last.
 */
export const withheldMigration = `
CREATE TABLE withheld_advice (
  id TEXT NOT NULL, begins REAL NOT NULL, ends REAL NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, why TEXT NOT NULL,
  reason TEXT NOT NULL, PRIMARY KEY (id, begins)
) STRICT, WITHOUT ROWID;
`;
