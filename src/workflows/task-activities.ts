/**
 * The activities of a task, with their timeouts and retries; the ids of the task and its store are added.
 * P1. Every phase is retried after a lost worker, like a model step. For an act the store decides whether it may be
 *     repeated or its outcome is unknown (store/task/task-step.ts, T2).
 */
import { ActivityCancellationType, type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { Settings } from '../core/thread/open-thread.ts';
import type { RunRef } from '../core/thread/step.ts';
import type {
  ActAttempt,
  OpenTaskInput,
  OpenTaskOutcome,
  ReadinessOutcome,
  TaskCause,
  TaskOutcome,
  ThoughtOutcome,
} from '../core/thread/task-step.ts';
import type { WaitAnswerOutcome } from '../core/thread/wait-step.ts';
import type { GivenAnswer } from '../core/wait/wait.ts';
import { COMMIT, LOST_WORKER_RETRY } from './proxies.ts';

const regular = proxyActivities<Activities>(COMMIT);

/** Applies until the task has been opened. */
const BEFORE_OPENING = { modelHeartbeatMs: 10_000, toolHeartbeatMs: 10_000 };
/** Only a fallback: the task's own time limit ends its phases, and missing heartbeats reveal a lost worker. */
const PHASE_TIME = '7 days';

export class TaskActivities {
  readonly #threadId: string;
  #storeId: string | undefined;
  #heartbeats: Pick<Settings, 'modelHeartbeatMs' | 'toolHeartbeatMs'> = BEFORE_OPENING;

  constructor(threadId: string, storeId: string | null) {
    this.#threadId = threadId;
    this.#storeId = storeId ?? undefined;
  }

  /** Undefined until the task has been opened for the first time. */
  get storeId(): string | undefined {
    return this.#storeId;
  }

  bind(storeId: string, settings?: Settings): void {
    this.#storeId = storeId;
    if (settings) this.#heartbeats = settings;
  }

  openTask(start: OpenTaskInput['start']): Promise<OpenTaskOutcome> {
    const { modelHeartbeatMs: heartbeatTimeout } = this.#heartbeats;
    const known = this.#storeId === undefined ? {} : { storeId: this.#storeId };
    const input = { threadId: this.#threadId, ...known, ...(start ? { start } : {}) };
    return regular.openTask.executeWithOptions({ ...COMMIT, heartbeatTimeout, summary: 'open' }, [input]);
  }

  checkTask(step: number): Promise<ReadinessOutcome> {
    return regular.checkTask.executeWithOptions({ ...this.#phase, summary: 'readiness' }, [
      { ...this.#ref, step },
    ]);
  }

  thinkTask(step: number): Promise<ThoughtOutcome> {
    const options = { ...this.#phase, summary: `think · step ${step}` };
    return regular.thinkTask.executeWithOptions(options, [{ ...this.#ref, step }]);
  }

  /** Runs the act of a step. The activity itself enforces the act's time limit. */
  actTask(step: number): Promise<ActAttempt> {
    const options: ActivityOptions = {
      ...this.#phase,
      heartbeatTimeout: this.#heartbeats.toolHeartbeatMs,
      summary: `act · step ${step}`,
    };
    return regular.actTask.executeWithOptions(options, [{ ...this.#ref, step }]);
  }

  endTask(step: number, cause?: TaskCause): Promise<TaskOutcome> {
    const { modelHeartbeatMs: heartbeatTimeout } = this.#heartbeats;
    const summary = cause ? `end · ${cause.stoppedBy}` : 'end';
    const input = { ...this.#ref, step, ...(cause ? { cause } : {}) };
    return regular.endTask.executeWithOptions({ ...COMMIT, heartbeatTimeout, summary }, [input]);
  }

  answerWait(given: GivenAnswer & { readonly id: string }): Promise<WaitAnswerOutcome> {
    const { modelHeartbeatMs: heartbeatTimeout } = this.#heartbeats;
    const options = { ...COMMIT, heartbeatTimeout, summary: `answer of ${given.id}` };
    return regular.answerWait.executeWithOptions(options, [{ ...this.#ref, ...given }]);
  }

  get #phase(): ActivityOptions {
    return {
      startToCloseTimeout: PHASE_TIME,
      heartbeatTimeout: this.#heartbeats.modelHeartbeatMs,
      retry: LOST_WORKER_RETRY,
      cancellationType: ActivityCancellationType.TRY_CANCEL,
    };
  }

  get #ref(): RunRef {
    return { threadId: this.#threadId, storeId: this.#storeId ?? '' };
  }
}
