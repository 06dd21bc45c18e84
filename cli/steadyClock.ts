/** Seconds since the epoch that go on evenly, whoever sets the wall clock meanwhile. */
export interface SteadyClock {
  now(): number;
  /** Takes the wall clock's time over. */
  setToWall(): void;
}

/**
 * A clock that is right when it is set and steady ever after: what is asked for its age by it is never young or old because
 * someone set the wall clock.
 */
export function createSteadyClock(wall: () => number, monotonic: () => number): SteadyClock {
  let offset = wall() - monotonic();
  return {
    now: () => monotonic() + offset,
    setToWall: () => {
      offset = wall() - monotonic();
    },
  };
}
