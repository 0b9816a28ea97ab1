/** In the order in which they are checked (budget.ts, G2). */
export const BUDGET_LIMITS = [
  'maxSteps',
  'maxLlmCalls',
  'maxToolCalls',
  'maxInputTokens',
  'maxOutputTokens',
  'maxCost',
  'maxRuntimeSeconds',
] as const;

export type BudgetLimit = (typeof BUDGET_LIMITS)[number];

/** With the ceiling that the runtime sets itself: model calls of all executions that one execution has caused. */
export const LINE_LIMITS = [...BUDGET_LIMITS, 'familyCalls'] as const;

export type LineLimit = (typeof LINE_LIMITS)[number];

/** The owner of a budget: an execution of a thread. */
export interface BudgetAccount {
  readonly threadId: string;
  readonly executionId: string;
  /** Set if the account has the ceiling `familyCalls`; `only`: no other limit. */
  readonly family?: 'only' | 'too';
}

/** One limit of one account, and how far it is used up, as people read it: in US dollars, seconds, tokens, calls or steps. */
export interface BudgetLine extends BudgetAccount {
  readonly limit: LineLimit;
  readonly max: number;
  readonly used: number;
  /** Reserved by requests to models whose end is not known yet (reservation.ts). */
  readonly reserved: number;
  /** The part of `used` that is an estimate, for requests whose end was never seen or whose usage was not reported. */
  readonly estimated: number;
  readonly warnAt: number;
  readonly warned: boolean;
  /** Set on a time limit while its clock runs (runtime.ts). */
  readonly running?: RunningClock;
}

/** The threads at work, each once, and the time since which at least one has been: microseconds since 1970. */
export interface RunningClock {
  readonly since: number;
  readonly threads: readonly string[];
}

/** Amounts to be spent, by limit. */
export type Spending = Readonly<Partial<Record<LineLimit, number>>>;
