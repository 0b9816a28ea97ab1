/** What a fork has of its source, and the words in which its model is told. */
import { describePastCall, type PastCall } from './past-call.ts';

export interface ForkedCall extends PastCall {
  readonly step: number;
}

/** What the source has changed behind the point, of what the fork has in its present state. */
export interface ChangedSince {
  readonly values?: readonly string[];
  readonly files?: readonly string[];
  readonly variables?: readonly string[];
}

/**
 * `head`: values, files and variables are those of the point; `current`: they are those of the time of the fork;
 * `none`: there are none, as those of the point are not known.
 */
export type ForkedState = 'head' | 'current' | 'none';

export interface ForkedPart {
  readonly from: string;
  /** The last step that was copied; 0 if the source had none. */
  readonly at: number;
  /** The step that was asked for, if that had not settled. */
  readonly asked?: number;
  readonly state: ForkedState;
  /** The calls of the copied steps whose tools are not idempotent; the newest 100, oldest first. */
  readonly effects: readonly ForkedCall[];
  /** Number of earlier ones that the list leaves out. */
  readonly moreEffects?: number;
  /** Set for `current`. */
  readonly changed?: ChangedSince;
  /** Names of secrets that stay with the owner of the source. */
  readonly withheld?: readonly string[];
}

const STATES = {
  head: 'Values, files and variables are as they were there.',
  current: 'Values, files and variables are those of now, not of that step.',
  none: 'Values, files and variables of that step are not available here.',
} as const;

/** The note at the end of the copied messages. */
export function describeFork({
  from,
  at,
  state,
  effects,
  moreEffects = 0,
  changed = {},
}: ForkedPart): string {
  const done = effects.map((call) => `- in step ${call.step}, ${describePastCall(call)}`);
  const since = Object.entries(changed).flatMap(([kind, names]) =>
    names?.length ? [`- ${kind} changed since: ${names.join(', ')}`] : [],
  );
  return [
    `This conversation is a fork of the thread ${from}, made after its step ${at}. The calls above ran there and are not run again; a call from here on is a new one, with an idempotency key of its own. Subagents referred to above are not available in a fork.`,
    STATES[state],
    ...since,
    ...(done.length > 0 ? ['What these calls did was done once, and stays:', ...done] : []),
    ...(moreEffects > 0 ? [`- and ${moreEffects} earlier calls`] : []),
  ].join('\n');
}
