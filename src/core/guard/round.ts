/**
 * How many rounds a turn may take: steps of a model since somebody outside has spoken last. A root thread that has used them up has failed; a
 * subagent is paused until somebody lets it go on.
 */

export interface RoundGuard {
  readonly max: number;
}

const [DEFAULT, LEAST, MOST] = [30, 10, 120];

/** With the default, and within its bounds. */
export function toRoundGuard({ max = DEFAULT }: Partial<RoundGuard>): RoundGuard {
  return { max: Math.min(Math.max(max, LEAST), MOST) };
}

/** Of each side that has any; `failures` of calls in a row, of either. */
export type RoundLimits = Readonly<Partial<Record<'a' | 'b' | 'failures', number>>>;

/** What a paused subagent is shown with. */
export interface PausedRounds {
  /** How many it has taken. */
  readonly round: number;
  readonly maxRounds: number;
  /** Names of the tools that its execution has called: the last ten, in the order in which they came first. */
  readonly executedTools: readonly string[];
}

const SHOWN_TOOLS = 10;

/** `names`: of all calls, oldest first. */
export function toExecutedTools(names: readonly string[]): readonly string[] {
  return [...new Set(names)].slice(-SHOWN_TOOLS);
}

export function toRoundsError(max: number): { readonly code: 'RoundsExhausted'; readonly message: string } {
  const message = `The turn has taken ${max} rounds without an end, which is its limit (guards.rounds). Its execution is over; another message begins a new one.`;
  return { code: 'RoundsExhausted', message };
}
