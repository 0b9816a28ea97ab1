/**
 * The activities as one run of a thread or of a task calls them: made from the table (core/thread/activities.ts), with
 * the ids of the thread and its store added, and with the heartbeat timeouts of the worker's settings.
 */
import { type ActivityOptions, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import {
  ACTIVITIES,
  type ActivityInput,
  type ActivityName,
  type ActivityOutcome,
  sideQueue,
} from '../core/thread/activities.ts';
import type { Settings } from '../core/thread/open-thread.ts';
import type { CallRef, EffectsDue, RunRef, StoredError, ToolCallInput } from '../core/thread/step.ts';
import { errorMessage, readField } from '../core/value/thrown.ts';

/** An activity's input without what the run adds. */
export type Unbound<Input extends Partial<RunRef>> = Omit<Input, keyof RunRef>;

/** Identifies a call of the thread. */
export type CallPlace = Unbound<ToolCallInput>;

/** How the Web UI shows an attempt at a call. */
export function toSummary({ name }: CallRef, { step }: CallPlace): string {
  return `${name} · step ${step}`;
}

/** What one call of an activity changes in the table. */
export interface OwnScheduling {
  readonly options?: ActivityOptions;
  readonly heartbeat?: 'model' | 'tool' | 'shorter';
  /** Another outcome of the same tool call follows: the hints in this one are not used (effect-alarm.ts, A5). */
  readonly isAttempt?: true;
}

export type BoundActivities = {
  readonly [Name in ActivityName]: (
    input: Unbound<ActivityInput<Name>>,
    summary: string,
    own?: OwnScheduling,
  ) => Promise<ActivityOutcome<Name>>;
};

/** The store that a run uses, and the heartbeat timeouts of its worker, as learned when the run is opened. */
export class StoreBinding {
  #id: string | undefined;
  #settings: Pick<Settings, 'modelHeartbeatMs' | 'toolHeartbeatMs'> = {
    modelHeartbeatMs: 10_000,
    toolHeartbeatMs: 10_000,
  };

  constructor(id: string | undefined) {
    this.#id = id;
  }

  /** Undefined until the thread or the task has been opened for the first time. */
  get id(): string | undefined {
    return this.#id;
  }

  bind(id: string | undefined, settings?: Settings): void {
    this.#id = id;
    if (settings) this.#settings = settings;
  }

  heartbeatTimeout(heartbeat: NonNullable<OwnScheduling['heartbeat']>): number {
    const { modelHeartbeatMs: model, toolHeartbeatMs: tool } = this.#settings;
    return { model, tool, shorter: Math.min(model, tool) }[heartbeat];
  }
}

const PROXIES = proxyActivities<Record<ActivityName, (input: object) => Promise<EffectsDue>>>({
  startToCloseTimeout: '5 minutes',
});

/** `receive` takes each outcome, for hints in it, right before the caller does. */
export function bindActivities(
  threadId: string,
  store: StoreBinding,
  receive?: (answer: Promise<EffectsDue>) => void,
): BoundActivities {
  const calls = (Object.keys(ACTIVITIES) as ActivityName[]).map((name) => {
    const { options, heartbeat, queue } = ACTIVITIES[name];
    const call = (input: object, summary: string, own: OwnScheduling = {}) => {
      const heartbeatTimeout = store.heartbeatTimeout(own.heartbeat ?? heartbeat);
      const taskQueue = queue && sideQueue(workflowInfo().taskQueue, queue);
      const scheduling = { ...options, ...own.options, taskQueue, heartbeatTimeout, summary };
      const bound = { threadId, storeId: store.id, ...input };
      const answer = PROXIES[name].executeWithOptions(scheduling, [bound]);
      if (!own.isAttempt) receive?.(answer);
      return answer;
    };
    return [name, call];
  });
  return Object.fromEntries(calls);
}

/** True if an activity failed permanently. Other errors are rethrown: they fail the workflow task, which is retried. */
export function isFailedActivity(error: unknown): boolean {
  return !isCancellation(error) && (error as Error).name === 'ActivityFailure';
}

/** Converts the failure of an activity to a stored error. */
export function toStoredError(error: unknown): StoredError {
  const cause = readField(error, 'cause');
  const type = readField(cause, 'type');
  const code = typeof type === 'string' ? type : 'Fault';
  return { code, message: errorMessage(cause ?? error).slice(0, 1000) };
}
