/**
 * How a worker goes: it begins nothing new from the first request on, and what asks a model has until the end of the grace to come to
 * its answer. Then another worker asks again.
 */

export interface Departure {
  /** Fires as it begins. */
  readonly leaving: AbortSignal;
  /** Fires at the end of the grace, or with `hurry`; with a grace of 0 as it begins. */
  readonly handover: AbortSignal;
  /** Safe to call twice: the first one counts. */
  begin(): void;
  /** There is no grace, or no more of it. */
  hurry(): void;
  /** Everything is handed over: no timer is left. */
  end(): void;
}

export function openDeparture(graceMs: number): Departure {
  const leaving = new AbortController();
  const handover = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const hurry = () => {
    leaving.abort();
    handover.abort();
  };
  return {
    leaving: leaving.signal,
    handover: handover.signal,
    hurry,
    begin() {
      if (leaving.signal.aborted) return;
      leaving.abort();
      if (graceMs === 0) hurry();
      else timer = setTimeout(hurry, graceMs);
    },
    end: () => clearTimeout(timer),
  };
}
