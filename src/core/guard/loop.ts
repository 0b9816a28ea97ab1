/**
 * Whether the calls of a model have become a loop: three detectors over the newest of them, as one pure function.
 *   generic_repeat  the same call, with the same arguments, again and again
 *   ping_pong       two calls in turn
 *   no_progress     call after call without progress: a new successful result, or a changed file or value
 * L1. The worst verdict counts, whichever detector comes to it; of two that are equal, the one that is listed first.
 * L2. Progress excuses neither a repetition nor two calls in turn: what answers the same question anew is asked in vain all the same.
 */

export interface LoopGuard {
  /** So many calls are a warning. */
  readonly warning: number;
  /** So many end the execution. */
  readonly critical: number;
  /** So many of the newest calls are looked at. */
  readonly history: number;
}

const DEFAULTS: LoopGuard = { warning: 4, critical: 8, history: 30 };
const FLOORS = { warning: 3, history: 8 } as const;

/** With defaults and floors: no less than three calls warn, one more at least ends the execution, and history has room for that. */
export function toLoopGuard(given: Partial<LoopGuard> = {}): LoopGuard {
  const { warning, critical, history } = { ...DEFAULTS, ...given };
  const warns = Math.max(warning, FLOORS.warning);
  const ends = Math.max(critical, warns + 1);
  return { warning: warns, critical: ends, history: Math.max(history, FLOORS.history, ends) };
}

/** A call that was run, with its result stored. */
export interface LoopCall {
  readonly name: string;
  /** Equal for equal arguments, in whatever order their keys came. */
  readonly signature: string;
  readonly progress: boolean;
}

export type LoopDetector = 'generic_repeat' | 'ping_pong' | 'no_progress';

export interface LoopVerdict {
  readonly severity: 'warning' | 'critical';
  readonly detector: LoopDetector;
  /** How many calls. */
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

/** From the first on. */
function countWhile(calls: readonly LoopCall[], holds: (call: LoopCall, index: number) => boolean): number {
  const end = calls.findIndex((call, index) => !holds(call, index));
  return end === -1 ? calls.length : end;
}

/** `newest`: the calls, the newest first. Undefined where there is no loop. */
export function findLoop(newest: readonly LoopCall[], guard: LoopGuard): LoopVerdict | undefined {
  const window = newest.slice(0, guard.history);
  const counts = Object.entries(DETECTORS).map(([detector, count]) => ({
    detector: detector as LoopDetector,
    count: count(window, guard),
  }));
  // L1: the worst one.
  const critical = counts.find(({ count }) => count >= guard.critical);
  if (critical) return { severity: 'critical', ...critical };
  const warning = counts.find(({ count }) => count >= guard.warning);
  return warning && { severity: 'warning', ...warning };
}

/** A warning as it is kept until the next request. */
export interface LoopWarning {
  readonly name: string;
  readonly detector: LoopDetector;
  readonly count: number;
}

/** What the model did, as it is told. */
const DONE: Readonly<Record<LoopDetector, (call: LoopWarning) => string>> = {
  generic_repeat: ({ name, count }) => `called "${name}" ${count} times in a row with the same arguments`,
  ping_pong: ({ name, count }) => `made the same two calls in turn ${count} times, the last one of "${name}"`,
  no_progress: ({ name, count }) =>
    `made ${count} calls in a row that brought nothing new, the last one of "${name}"`,
};

/** What the next request reminds its model of: a word of the runtime, which is no message of the thread. */
export function composeReminder(warnings: readonly LoopWarning[]): string {
  const done = warnings.map((warning) => `You have ${DONE[warning.detector](warning)}.`);
  return `[loop-warning] ${done.join(' ')} Use what you have, do something else, or answer: going on like this ends your work.`;
}

/** The newest of each kind. */
export function addWarning(warnings: readonly LoopWarning[], added: LoopWarning): readonly LoopWarning[] {
  const others = warnings.filter(({ name, detector }) => name !== added.name || detector !== added.detector);
  return [...others, added];
}

/** What the execution ends with. */
export function toLoopError(loop: LoopWarning): { readonly code: 'LoopDetected'; readonly message: string } {
  const did = DONE[loop.detector]({ ...loop, name: loop.name.slice(0, 64) });
  return {
    code: 'LoopDetected',
    message: `The model has ${did} (${loop.detector}). Its execution is over; another message begins a new one.`,
  };
}
