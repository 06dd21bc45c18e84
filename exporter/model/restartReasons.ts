/**
 * Why a watch or a list was begun anew. `closed`: the server ended the watch. `broken`: the connection broke off, or the watch
 * was refused. `silent`: no event or bookmark came for too long. `expired`: the version was too old (410), so that everything
 * was listed again. `malformed`: an event could not be read, so that everything was listed again, too. `token-expired`: a list
 * took so long that its continue token was not accepted any more.
 */
export const restartReasons = ["closed", "broken", "silent", "expired", "malformed", "token-expired"] as const;

export type RestartReason = (typeof restartReasons)[number];
