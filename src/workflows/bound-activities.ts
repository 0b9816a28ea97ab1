/**
 * The activities, as one run of a thread calls them: with the thread and the store that it lives in, and with the times of its
 * worker's settings. What an answer says of effects reaches the run's alarm.
 * B1. An answer is heard right before its caller goes on, and delays the caller by nothing: two flows that go on within one
 *     activation issue their commands in the order that histories have.
 * B2. Attempts of a tool are not heard one by one, nor is what the store says of a lost one: the call's outcome is (tool-call.ts).
 */
import type { CancellationScope } from '@temporalio/workflow';
import type { CancelRequest, CancelVerdict } from '../core/governance/cancellation.ts';
import type { EffectsDue, RunEffectsInput } from '../core/thread/effect-batch.ts';
import type { GoneOn, NextStep, StepInput } from '../core/thread/next-step.ts';
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
  callAnswerWait,
  callFinish,
  callModelStep,
  callQuickTool,
  callReport,
  callRunEffects,
  callSubagent,
  callSubprompt,
  callTool,
  commit,
  type Heartbeats,
  STORE,
} from './proxies.ts';

/** An activity's input without what the run adds. */
type Unbound<Input extends Partial<RunRef>> = Omit<Input, keyof RunRef>;

/** Which call of the thread. */
export type CallPlace = Unbound<ToolCallInput>;

/** A step that a call may go on into. */
export interface Ahead {
  readonly step: NextStep;
  readonly summary: string;
}

/** Until the thread has been opened, and where it turned out to be over. */
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

  /** Undefined as long as nobody has opened the thread. */
  get storeId(): string | undefined {
    return this.#storeId;
  }

  bind(storeId: string | undefined, settings?: Settings): void {
    this.#storeId = storeId;
    if (settings) this.#heartbeats = settings;
  }

  openThread(input: Unbound<OpenThreadInput>) {
    const bound = { ...input, threadId: this.#threadId, storeId: this.#storeId };
    return this.heard(commit(STORE.openThread, this.#heartbeats, bound, `open · ${input.agent}`));
  }

  stashItems(items: StashInput['items']) {
    return commit(STORE.stashItems, this.#heartbeats, { ...this.#ref, items }, `${items.length} queued`);
  }

  cancelExecution(request: CancelRequest): Promise<CancelVerdict> {
    const summary = request.reason ? `cancel · ${request.reason}` : 'cancel';
    return commit(STORE.cancelExecution, this.#heartbeats, { ...this.#ref, request }, summary);
  }

  commitStatus(input: Unbound<CommitStatusInput>): Promise<CommitStatusOutcome> {
    const { status, reason, error } = input;
    const shown = error ? `${status}: ${error.code}` : status;
    const summary = reason ? `${shown} · ${reason}` : shown;
    return this.heard(commit(STORE.commitStatus, this.#heartbeats, { ...this.#ref, ...input }, summary));
  }

  modelStep(input: Unbound<StepInput>, summary: string) {
    return this.heard(callModelStep(this.#heartbeats, { ...this.#ref, ...input }, summary));
  }

  /** In a scope that aborts the handler which runs. */
  runEffects(scope: CancellationScope, input: Unbound<RunEffectsInput>) {
    const bound = { ...this.#ref, ...input };
    return this.heard(scope.run(() => callRunEffects(this.#heartbeats, bound, 'effects')));
  }

  reportToParent() {
    return callReport(this.#heartbeats, this.#ref, 'report to the parent');
  }

  listUnstarted() {
    return commit(STORE.listUnstarted, this.#heartbeats, this.#ref, 'children to start');
  }

  /** B2: not heard here. `next`: the step to go on into, with words for it. */
  runTool(call: CallRef, place: CallPlace, next?: Ahead): Promise<ToolAttempt | GoneOn> {
    const input = { ...this.#ref, ...place, ...(next ? { next: next.step } : {}) };
    const summary = next ? `${summarize(call, place)}, then ${next.summary}` : summarize(call, place);
    return callTool(this.#heartbeats, call, input, summary);
  }

  /** B2: not heard here. */
  runQuickTool(call: CallRef, place: CallPlace): Promise<ToolAttempt> {
    return callQuickTool({ ...this.#ref, ...place }, summarize(call, place));
  }

  /** B2: not heard here. */
  recordToolOutcome(call: CallRef, place: CallPlace) {
    const input = { ...this.#ref, ...place };
    return commit(STORE.recordToolOutcome, this.#heartbeats, input, `what became of ${call.name}`);
  }

  answerWait(input: Unbound<AnswerWaitInput>): Promise<WaitAnswerOutcome> {
    return callAnswerWait(this.#heartbeats, { ...this.#ref, ...input }, `answer of ${input.id}`);
  }

  /** The model step of a sub-prompt. A fault that came back again and again becomes the call's result. */
  askSubprompt(call: CallRef, place: CallPlace): Promise<SubpromptAttempt> {
    return this.heard(this.#askSubprompt(call, place));
  }

  finishSubprompt(call: CallRef, place: CallPlace): Promise<ToolCallOutcome> {
    return this.heard(this.#finishSubprompt(place, `result of ${call.name}`));
  }

  /** Activity `callSubagent`: makes a child, or tells it something. A fault that came back again and again becomes the call's result. */
  askSubagent(call: CallRef, place: CallPlace): Promise<SubagentAttempt> {
    return this.heard(this.#askSubagent(call, place));
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

  /** B1: the reaction that hears is the first of this very promise. */
  heard<Answer>(answer: Promise<Answer & EffectsDue>): Promise<Answer> {
    answer.then(
      (outcome) => this.#alarm.hear(outcome),
      () => undefined,
    );
    return answer;
  }

  async #askSubprompt(call: CallRef, place: CallPlace): Promise<SubpromptAttempt> {
    try {
      return await callSubprompt(this.#heartbeats, { ...this.#ref, ...place }, summarize(call, place));
    } catch (error) {
      if (!isFailedActivity(error)) throw error;
      // The prompt has done nothing that its calls' own records do not tell.
      const outcome = await this.#finishSubprompt(place, `what became of ${call.name}`, toStoredError(error));
      return outcome.kind === 'terminated' ? outcome : { kind: 'settled', outcome };
    }
  }

  #finishSubprompt(place: CallPlace, summary: string, error?: StoredError) {
    const input = { ...this.#ref, ...place, ...(error ? { error } : {}) };
    return callFinish(STORE.finishSubprompt, this.#heartbeats, input, summary);
  }

  async #askSubagent(call: CallRef, place: CallPlace): Promise<SubagentAttempt> {
    try {
      return await callSubagent(this.#heartbeats, { ...this.#ref, ...place }, summarize(call, place));
    } catch (error) {
      if (!isFailedActivity(error)) throw error;
      // A child that was made all the same is told of in the result.
      const outcome = await this.finishSubagent(call, place, toStoredError(error));
      return outcome.kind === 'terminated' ? outcome : { kind: 'settled', outcome };
    }
  }

  #finishSubagent(place: CallPlace, summary: string, error?: StoredError) {
    const input = { ...this.#ref, ...place, ...(error ? { error } : {}) };
    return this.heard(callFinish(STORE.finishSubagent, this.#heartbeats, input, summary));
  }

  get #ref(): RunRef {
    return { threadId: this.#threadId, storeId: this.#storeId ?? '' };
  }
}

function summarize({ name }: CallRef, { step }: CallPlace): string {
  return `${name} · step ${step}`;
}
