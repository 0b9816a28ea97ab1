/** Limits of a run, as whoever starts it gives them. Of two the lower one holds. */

/** Limits of a run; each is absent where nobody has set it. */
export interface RunLimits {
  readonly maxSteps?: number;
  readonly maxLlmCalls?: number;
  readonly maxToolCalls?: number;
  readonly maxInputTokens?: number;
  readonly maxOutputTokens?: number;
  readonly maxRuntimeSeconds?: number;
  /** US dollars. */
  readonly maxCost?: number;
  /** The share of a limit at which the log warns: 0.8 is four fifths. */
  readonly warnAt?: number;
}

export const RUN_LIMITS = [
  'maxSteps',
  'maxLlmCalls',
  'maxToolCalls',
  'maxInputTokens',
  'maxOutputTokens',
  'maxRuntimeSeconds',
  'maxCost',
  'warnAt',
] as const satisfies readonly (keyof RunLimits)[];

/** Where nobody says when to warn. */
export const WARN_AT = 0.8;

/** A warning comes as early as either wants it; 0 wants none. */
export function joinLimits(one: RunLimits, other: RunLimits): RunLimits {
  const joined: Partial<Record<keyof RunLimits, number>> = {};
  for (const name of RUN_LIMITS) {
    const known = [one[name], other[name]].filter((limit) => limit !== undefined);
    const counted =
      name === 'warnAt' && known.some((part) => part > 0) ? known.filter((part) => part > 0) : known;
    if (counted.length > 0) joined[name] = Math.min(...counted);
  }
  return joined;
}
