/**
 * Which work of an author has taken worker processes down. Work is known by a key that is the same in every attempt.
 * K1. A row means suspicion: such work runs in a process of its own. Only deaths of which it was the known cause are counted.
 * K2. Work that has ended in order is cleared; a row that nobody has touched for STRIKES_KEPT_DAYS goes.
 */
export interface Strike {
  readonly work: string;
  readonly threadId: string;
  /** Kind and name of what ran, for people. */
  readonly code: string;
  readonly name: string;
  /** Deaths of which it was the cause; 0 for one that merely ran at the time of a death. */
  readonly strikes: number;
}

export type StruckWork = Omit<Strike, 'strikes'>;

export interface RecordedDeath {
  /** The same death again changes nothing. */
  readonly id: string;
  readonly culprit?: StruckWork;
  readonly suspects: readonly StruckWork[];
}

export interface StrikeStore {
  /** Counts each death once, against its culprit; suspects get a row without a strike. */
  recordDeaths(deaths: readonly RecordedDeath[]): Promise<void>;
  read(work: string): Promise<Strike | null>;
  /** The work has ended in order. */
  clear(work: string): Promise<void>;
}
