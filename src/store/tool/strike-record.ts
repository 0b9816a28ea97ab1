/**
 * Author code that has brought worker processes down. A unit of work is identified by a key that is the same in every
 * attempt.
 * K1. A row marks work as suspect: it then runs in its own process. Only deaths known to be caused by it count as
 *     strikes.
 * K2. The row is deleted when the work ends normally, or if it is not touched for STRIKES_KEPT_DAYS.
 */
export interface Strike {
  readonly work: string;
  readonly threadId: string;
  /** Kind (`code`) and name of the code that ran, for display. */
  readonly code: string;
  readonly name: string;
  /** Number of deaths that it caused; 0 if it only ran when a process died. */
  readonly strikes: number;
}

export type StruckWork = Omit<Strike, 'strikes'>;

export interface RecordedDeath {
  /** Idempotency key: recording the same death again has no effect. */
  readonly id: string;
  readonly culprit?: StruckWork;
  readonly suspects: readonly StruckWork[];
}
