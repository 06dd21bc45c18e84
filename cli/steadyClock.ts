/** Seconds since the epoch that go on evenly, whoever sets the wall clock meanwhile. */
export interface SteadyClock {
  now(): number;
  /** Sets the clock to the time of the wall clock. */
  setToWall(): void;
}

/**
 * A clock that is right when it is set and steady ever after: ages that are measured by it do not change when someone sets the
 * wall clock.
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
