/**
 * The activities as one run of a thread calls them: the ids of the thread and its store are added, and the timeouts
 * come from the worker's settings. Hints about effects in their results are passed to the run's alarm.
 * B1. The alarm receives a result right before the caller continues, and does not delay it: two flows that continue
 *     within one activation issue their commands in the order of recorded histories.
 * B2. The alarm receives only a tool call's final outcome, not that of each attempt or of `recordToolOutcome`
 *     (tool-call.ts).
 */
import type { CancellationScope } from '@temporalio/workflow';
import type { CancelRequest, CancelVerdict } from '../core/governance/cancellation.ts';
import type { EffectsDue, RunEffectsInput } from '../core/thread/effect-batch.ts';
import type { CallWithNext, NextStep, StepInput } from '../core/thread/next-step.ts';
import type { OpenThreadInput, Settings } from '../core/thread/open-thread.ts';
import type {
  CallRef,
  CommitStatusInput,
  CommitStatusOutcome,
  RunRef,
  StashInput,
  StoredError,
  ToolCallInput,
  ToolCallOutcome,
} from '../core/thread/step.ts';
import type { FinishedSubagent } from '../core/thread/subagent-step.ts';
import type {
  AnswerWaitInput,
  SubagentAttempt,
  SubpromptAttempt,
  ToolAttempt,
  WaitAnswerOutcome,
} from '../core/thread/wait-step.ts';
import type { EffectAlarm } from './effect-alarm.ts';
import { isFailedActivity, toStoredError } from './fault.ts';
import {
  ACTIVITIES,
  callFinish,
  callModelStep,
  callReport,
  callRunEffects,
  callSubagent,
  callSubprompt,
  callTool,
  commit,
  type Heartbeats,
} from './proxies.ts';

/** An activity's input without what the run adds. */
type Unbound<Input extends Partial<RunRef>> = Omit<Input, keyof RunRef>;

/** Identifies a call of the thread. */
export type CallPlace = Unbound<ToolCallInput>;

/** A step ahead, into which a call may go on, with its text for the summary (step-ahead.ts). */
export interface Ahead {
  readonly step: NextStep;
  readonly summary: string;
}

/** Applies until the thread has been opened, and if it turns out to have ended. */
const BEFORE_OPENING: Heartbeats = { modelHeartbeatMs: 10_000, toolHeartbeatMs: 10_000 };

export class BoundActivities {
  readonly #threadId: string;
  readonly #alarm: EffectAlarm;
  #storeId: string | undefined;
  #heartbeats: Heartbeats = BEFORE_OPENING;

  constructor(threadId: string, storeId: string | undefined, alarm: EffectAlarm) {
    this.#threadId = threadId;
    this.#storeId = storeId;
    this.#alarm = alarm;
  }

  /** Undefined until the thread has been opened for the first time. */
  get storeId(): string | undefined {
    return this.#storeId;
  }

  bind(storeId: string | undefined, settings?: Settings): void {
    this.#storeId = storeId;
    if (settings) this.#heartbeats = settings;
  }

  openThread(input: Unbound<OpenThreadInput>) {
    const bound = { ...input, threadId: this.#threadId, storeId: this.#storeId };
    return this.informAlarm(commit(ACTIVITIES.openThread, this.#heartbeats, bound, `open · ${input.agent}`));
  }

  stashItems(items: StashInput['items']) {
    return commit(ACTIVITIES.stashItems, this.#heartbeats, { ...this.#ref, items }, `${items.length} queued`);
  }

  cancelExecution(request: CancelRequest): Promise<CancelVerdict> {
    const summary = request.reason ? `cancel · ${request.reason}` : 'cancel';
    return commit(ACTIVITIES.cancelExecution, this.#heartbeats, { ...this.#ref, request }, summary);
  }

  commitStatus(input: Unbound<CommitStatusInput>): Promise<CommitStatusOutcome> {
    const { status, reason, error } = input;
    const shown = error ? `${status}: ${error.code}` : status;
    const summary = reason ? `${shown} · ${reason}` : shown;
    return this.informAlarm(
      commit(ACTIVITIES.commitStatus, this.#heartbeats, { ...this.#ref, ...input }, summary),
    );
  }

  modelStep(input: Unbound<StepInput>, summary: string) {
    return this.informAlarm(callModelStep(this.#heartbeats, { ...this.#ref, ...input }, summary));
  }

  /** Runs effects; cancelling `scope` aborts the running handler. */
  runEffects(scope: CancellationScope, input: Unbound<RunEffectsInput>) {
    const bound = { ...this.#ref, ...input };
    return this.informAlarm(scope.run(() => callRunEffects(this.#heartbeats, bound, 'effects')));
  }

  reportToParent() {
    return callReport(this.#heartbeats, this.#ref, 'report to the parent');
  }

  listUnstarted() {
    return commit(ACTIVITIES.listUnstarted, this.#heartbeats, this.#ref, 'children to start');
  }

  /** B2: the alarm does not receive this result. `next`: the step ahead, if the call may go on into it. */
  runTool(call: CallRef, place: CallPlace, next?: Ahead): Promise<ToolAttempt | CallWithNext> {
    const input = { ...this.#ref, ...place, ...(next ? { next: next.step } : {}) };
    const summary = next ? `${summarize(call, place)}, then ${next.summary}` : summarize(call, place);
    return callTool(this.#heartbeats, call, input, summary);
  }

  /** B2: the alarm does not receive this result. */
  recordToolOutcome(call: CallRef, place: CallPlace) {
    const input = { ...this.#ref, ...place };
    return commit(ACTIVITIES.recordToolOutcome, this.#heartbeats, input, `what became of ${call.name}`);
  }

  answerWait(input: Unbound<AnswerWaitInput>): Promise<WaitAnswerOutcome> {
    return commit(
      ACTIVITIES.answerWait,
      this.#heartbeats,
      { ...this.#ref, ...input },
      `answer of ${input.id}`,
    );
  }

  /** Runs the model step of a sub-prompt. A fault that persists through all retries becomes the call's result. */
  askSubprompt(call: CallRef, place: CallPlace): Promise<SubpromptAttempt> {
    return this.informAlarm(this.#askSubprompt(call, place));
  }

  finishSubprompt(call: CallRef, place: CallPlace): Promise<ToolCallOutcome> {
    return this.informAlarm(this.#finishSubprompt(place, `result of ${call.name}`));
  }

  /**
   * Activity `callSubagent`: creates a child, or sends it a message. A fault that persists through all retries becomes
   * the call's result.
   */
  askSubagent(call: CallRef, place: CallPlace): Promise<SubagentAttempt> {
    return this.informAlarm(this.#askSubagent(call, place));
  }

  /** Activity `finishSubagent`: the result of a call that blocks, once the child has reported. */
  lookForReport(call: CallRef, place: CallPlace): Promise<FinishedSubagent> {
    return this.#finishSubagent(place, `report of ${call.name}`);
  }

  /** Activity `finishSubagent`: the result of a call that does not block, or whose child could not be asked or started. */
  async finishSubagent(call: CallRef, place: CallPlace, error?: StoredError): Promise<ToolCallOutcome> {
    const outcome = await this.#finishSubagent(place, `result of ${call.name}`, error);
    if (outcome.kind === 'waiting') throw new Error(`A call of ${call.name} waits that does not block.`);
    return outcome;
  }

  /** B1: passes the result to the alarm. The reaction is attached to this same promise before the caller's. */
  informAlarm<Answer>(answer: Promise<Answer & EffectsDue>): Promise<Answer> {
    answer.then(
      (outcome) => this.#alarm.receive(outcome),
      () => undefined,
    );
    return answer;
  }

  async #askSubprompt(call: CallRef, place: CallPlace): Promise<SubpromptAttempt> {
    try {
      return await callSubprompt(this.#heartbeats, { ...this.#ref, ...place }, summarize(call, place));
    } catch (error) {
      if (!isFailedActivity(error)) throw error;
      // Everything that the prompt has done is in the records of its calls.
      const outcome = await this.#finishSubprompt(place, `what became of ${call.name}`, toStoredError(error));
      return outcome.kind === 'terminated' ? outcome : { kind: 'settled', outcome };
    }
  }

  #finishSubprompt(place: CallPlace, summary: string, error?: StoredError) {
    const input = { ...this.#ref, ...place, ...(error ? { error } : {}) };
    return callFinish(ACTIVITIES.finishSubprompt, this.#heartbeats, input, summary);
  }

  async #askSubagent(call: CallRef, place: CallPlace): Promise<SubagentAttempt> {
    try {
      return await callSubagent(this.#heartbeats, { ...this.#ref, ...place }, summarize(call, place));
    } catch (error) {
      if (!isFailedActivity(error)) throw error;
      // If a child was created nevertheless, the result mentions it.
      const outcome = await this.finishSubagent(call, place, toStoredError(error));
      return outcome.kind === 'terminated' ? outcome : { kind: 'settled', outcome };
    }
  }

  #finishSubagent(place: CallPlace, summary: string, error?: StoredError) {
    const input = { ...this.#ref, ...place, ...(error ? { error } : {}) };
    return this.informAlarm(callFinish(ACTIVITIES.finishSubagent, this.#heartbeats, input, summary));
  }

  get #ref(): RunRef {
    return { threadId: this.#threadId, storeId: this.#storeId ?? '' };
  }
}

function summarize({ name }: CallRef, { step }: CallPlace): string {
  return `${name} · step ${step}`;
}
