/**
 * How many rounds a turn may take: model steps since the last input from outside. A root thread that has used them up
 * fails, unless its guard pauses it; a subagent is paused until it is allowed to go on.
 */

export interface RoundGuard {
  readonly max: number;
  /** True if a root thread is paused, too. */
  readonly pause?: boolean;
}

/** Applies the default. */
export function toRoundGuard({ max = 30, pause = false }: Partial<RoundGuard>): RoundGuard {
  return pause ? { max, pause } : { max };
}

/**
 * Maximum of rounds for each side that has one; `failures`: maximum of failed calls in a row, on either side; `pause`: a
 * root thread is paused, too.
 */
export type RoundLimits = Readonly<
  Partial<Record<'a' | 'b' | 'failures', number>> & { readonly pause?: true }
>;

/** Shown with a paused subagent. */
export interface PausedRounds {
  /** Number of rounds taken. */
  readonly round: number;
  readonly maxRounds: number;
  /** Names of the tools that its execution has called: the last ten distinct names, in order of first use. */
  readonly executedTools: readonly string[];
}

const SHOWN_TOOLS = 10;

/** `names`: of all calls, oldest first, repetitions included. */
export function toExecutedTools(names: readonly string[]): readonly string[] {
  return [...new Set(names)].slice(-SHOWN_TOOLS);
}

export function toRoundsError(max: number): { readonly code: 'RoundsExhausted'; readonly message: string } {
  const message = `The turn has used ${max} rounds without finishing, which is the limit (guards.rounds). The execution has ended; send another message to start a new one.`;
  return { code: 'RoundsExhausted', message };
}
