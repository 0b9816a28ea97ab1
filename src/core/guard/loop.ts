/**
 * Detects whether the calls of a model have become a loop: three detectors over its newest calls, as one pure function.
 *   generic_repeat  the same call, with the same arguments, again and again
 *   ping_pong       two calls that alternate
 *   no_progress     call after call without progress: a new successful result, or a changed file or value
 * - The worst verdict counts, whichever detector returns it; of two equal ones, the one that is listed first.
 * - Progress excuses neither repeated nor alternating calls: repeating a question is a loop even if the answers
 *   differ.
 */

export interface LoopGuard {
  /** Number of calls at which the model is warned. */
  readonly warning: number;
  /** Number of calls at which the execution ends. */
  readonly critical: number;
  /** Number of the newest calls that are examined. */
  readonly history: number;
}

const DEFAULTS: LoopGuard = { warning: 4, critical: 8, history: 30 };
const MINIMUMS = { warning: 3, history: 8 } as const;

/**
 * Applies defaults and minimums: at least three calls to warn, at least one more to end the execution, and a history
 * that holds them.
 */
export function toLoopGuard(given: Partial<LoopGuard> = {}): LoopGuard {
  const { warning, critical, history } = { ...DEFAULTS, ...given };
  const warns = Math.max(warning, MINIMUMS.warning);
  const ends = Math.max(critical, warns + 1);
  return { warning: warns, critical: ends, history: Math.max(history, MINIMUMS.history, ends) };
}

/** A call that was run, with its result stored. */
export interface LoopCall {
  readonly name: string;
  /** Equal for equal arguments, regardless of the order of their keys. */
  readonly signature: string;
  readonly progress: boolean;
}

export type LoopDetector = 'generic_repeat' | 'ping_pong' | 'no_progress';

export interface LoopVerdict {
  readonly severity: 'warning' | 'critical';
  readonly detector: LoopDetector;
  /** Number of calls in the loop. */
  readonly count: number;
}

type Detect = (newest: readonly LoopCall[], guard: LoopGuard) => number;

const isSame = (one: LoopCall, other: LoopCall | undefined): boolean =>
  one.name === other?.name && one.signature === other.signature;

const DETECTORS: Readonly<Record<LoopDetector, Detect>> = {
  generic_repeat: (newest) => countWhile(newest, (call) => isSame(call, newest[0])),
  ping_pong: (newest, { critical }) => {
    const [one, other] = newest;
    if (!one || !other || isSame(one, other)) return 0;
    return countWhile(newest.slice(0, critical), (call, index) => isSame(call, newest[index % 2]));
  },
  no_progress: (newest) => countWhile(newest, ({ progress }) => !progress),
};

/** Counts calls from the first on, until `holds` is false. */
function countWhile(calls: readonly LoopCall[], holds: (call: LoopCall, index: number) => boolean): number {
  const end = calls.findIndex((call, index) => !holds(call, index));
  return end === -1 ? calls.length : end;
}

/** `newest`: the calls, newest first. Undefined if there is no loop. */
export function findLoop(newest: readonly LoopCall[], guard: LoopGuard): LoopVerdict | undefined {
  const window = newest.slice(0, guard.history);
  const counts = Object.entries(DETECTORS).map(([detector, count]) => ({
    detector: detector as LoopDetector,
    count: count(window, guard),
  }));
  const critical = counts.find(({ count }) => count >= guard.critical);
  if (critical) return { severity: 'critical', ...critical };
  const warning = counts.find(({ count }) => count >= guard.warning);
  return warning && { severity: 'warning', ...warning };
}

/** A warning that is kept until the next request. */
export interface LoopWarning {
  readonly name: string;
  readonly detector: LoopDetector;
  readonly count: number;
}

/** Descriptions of what the model did. */
const CALL_DESCRIPTIONS: Readonly<Record<LoopDetector, (call: LoopWarning) => string>> = {
  generic_repeat: ({ name, count }) => `called "${name}" ${count} times in a row with the same arguments`,
  ping_pong: ({ name, count }) =>
    `alternated between the same two calls ${count} times, the last one to "${name}"`,
  no_progress: ({ name, count }) =>
    `made ${count} calls in a row that returned nothing new, the last one to "${name}"`,
};

/** What the model has done: `called "look" 4 times in a row with the same arguments`. */
export function describeLoop(warning: LoopWarning): string {
  return CALL_DESCRIPTIONS[warning.detector](warning);
}

/** Returns the reminder in the model's next request; it is not a message of the thread. */
export function composeReminder(warnings: readonly LoopWarning[]): string {
  const done = warnings.map((warning) => `You have ${describeLoop(warning)}.`);
  return `[loop-warning] ${done.join(' ')} Use what you have, do something else, or answer: if this continues, your work will be ended.`;
}

/** Adds a warning, and keeps only the newest of each tool and detector. */
export function addWarning(warnings: readonly LoopWarning[], added: LoopWarning): readonly LoopWarning[] {
  const others = warnings.filter(({ name, detector }) => name !== added.name || detector !== added.detector);
  return [...others, added];
}

/** The error that the execution ends with. */
export function toLoopError(loop: LoopWarning): { readonly code: 'LoopDetected'; readonly message: string } {
  const did = describeLoop({ ...loop, name: loop.name.slice(0, 64) });
  return {
    code: 'LoopDetected',
    message: `The model has ${did} (${loop.detector}). The execution has ended; send another message to start a new one.`,
  };
}
