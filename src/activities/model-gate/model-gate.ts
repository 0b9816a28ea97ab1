/**
 * The model gate: the stages around a request to a model, in order (runtime §3.1-3.4). The thread's own step begins
 * with its input (receive-input.ts). A sub-prompt's step has none and is opened by its call (subprompt/run.ts). Both are
 * answered alike.
 *
 * `awaitProducer` replaces all stages that ask a model if code of another process produces the execution
 * (core/thread/producer.ts). That code writes to the log itself; the stage waits for its end, which becomes the answer
 * of the step.
 * - This process holds no state of the production: if its worker is lost, another attempt goes on waiting.
 * - A producer whose process shows no sign of life is ended here too, not only by the workers' regular check.
 */

import { end, go, openGate } from '../../author/policy/gate.ts';
import { composeReminder } from '../../core/guard/loop.ts';
import { type Produced, producerLost } from '../../core/thread/producer.ts';
import type { BlockedStep, StoredError } from '../../core/thread/step.ts';
import { readField } from '../../core/value/thrown.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { CommittedStep } from '../../store/step/step-record.ts';
import { withHookWork } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal } from '../base/guard.ts';
import type { HeldRequest, UnsentRequest } from '../model/model-call-record.ts';
import { signalBudgetWaiters } from '../signals/wake-relatives.ts';
import { cleanAnswer, composeAnswer, composeBlocked, storeImages } from './answer.ts';
import { type AssembledRequest, askModels } from './ask-models.ts';
import {
  type BlockedRequest,
  chooseHistory,
  filterHistory,
  type History,
  noteTrimmed,
  openStepHooks,
  type RequestMaterial,
  renderSystem,
  runCompactionHooks,
  type StepHooks,
  sanitise,
} from './assemble.ts';
import { type AnsweredStep, afterCreateAnswer, beforeCreateAnswer, commitAnswer } from './commit-answer.ts';
import { compact, compactForBudget } from './compact.ts';
import {
  type FailedStep,
  type OpenStep,
  offerMcpTools,
  offerSubagents,
  type ReadStep,
  readStepContext,
  requireStepVariables,
  resolveSide,
} from './read-step.ts';
import type { DrainedStep } from './receive-input.ts';
import { checkOutput, describeOutput, rejectAnswer, showRejected } from './typed-answer.ts';

/** All that is known of a step while its hooks are open. */
type HookedStep = ReadStep & StepHooks & Pick<AssembledRequest, 'hasCompacted'>;

const READ = openGate<ActivityDependencies, OpenStep, FailedStep | UnsentRequest>()
  .stage(readStepContext) //          2 what the store has of the step
  .stage(resolveSide) //              2 whose step it is: agent, side, prompt
  .stage(requireStepVariables) //     2 required variables have values
  .stage(offerSubagents) //           2 which subagents may be offered now
  .stage(offerMcpTools) //            2 which tools MCP servers list and the client offers
  .stage(compact); //                 3 older messages are replaced by a summary, if that is due

/** Assembles what all requests of the step have in common. */
export const ASSEMBLE = openGate<
  Pick<ActivityDependencies, 'store' | 'registry'>,
  RequestMaterial,
  BlockedRequest
>()
  .stage(noteTrimmed) //              3 assemble: logs that not all messages have room
  .stage(runCompactionHooks) //            3 assemble: hooks receive the summary that was made
  .stage(renderSystem) //             3 assemble: the prompt, through its hooks
  .stage(describeOutput) //           3 assemble: the type of the answer, for models that cannot be bound to it
  .stage(chooseHistory) //            3 assemble: the messages, through their hooks
  .stage(filterHistory) //            4 hooks on the request: may refuse it
  .stage(remind) //                   4 reminds of a loop that the previous calls make
  .stage(showRejected) //             4 shows the answer that was rejected, and why
  .stage(sanitise); //                5 last, so that no hook can break the history

/** Stages for an execution that code of another process produces: no model is asked, so nothing is assembled. */
const PRODUCED = openGate<ActivityDependencies, OpenStep, FailedStep>()
  .stage(readStepContext) //          2 what the store has of the step
  .stage(resolveSide) //              2 whose step it is
  .stage(awaitProducer); //           6 the producer's end is the answer

const ASK = openGate<ActivityDependencies, AssembledRequest, FailedStep | HeldRequest>()
  .stage(askModels) //                6 attempts: tries and fallbacks
  .stage(storeImages) //              7 images that the model has made become files
  .stage(cleanAnswer) //              7 hygiene: names, arguments and ids of its calls
  .stage(composeAnswer); //           7 the answer: content, calls with their ids

const STORE = openGate<ActivityDependencies, AnsweredStep, AnsweredOutcome>()
  .stage(beforeCreateAnswer) //       8 hooks on the answer
  .stage(checkOutput) //              8 the last answer fits its type
  .stage(rejectAnswer) //             9 or the log keeps it, and it is asked for again
  .stage(commitAnswer) //             9 one transaction: answer, calls, usage, events
  .stage(afterCreateAnswer); //      10 hooks after it

export type AnsweredOutcome =
  | CommittedStep
  /** The step stays open. */
  | BlockedStep
  /** The step has failed, and its failure is stored. */
  | { readonly kind: 'failed'; readonly error: StoredError };

/** Takes an open step to its stored answer, or to the failure that is stored instead. */
export async function answerStep(
  dependencies: ActivityDependencies,
  step: OpenStep & Pick<DrainedStep, 'produced'>,
): Promise<AnsweredOutcome> {
  try {
    return await answerOpen(dependencies, step);
  } catch (error) {
    // The next attempt logs a handover. If the store is unreachable, it logs a lost worker instead.
    if (readField(error, 'name') === 'WorkerHandover')
      await dependencies.store.steps.handOver(step.ref).catch(() => undefined);
    throw error;
  }
}

async function answerOpen(
  dependencies: ActivityDependencies,
  step: OpenStep & Pick<DrainedStep, 'produced'>,
): Promise<AnsweredOutcome> {
  if (step.produced) return answerProduced(dependencies, step);
  const read = await READ.pass(dependencies, step);
  if (read.kind === 'end')
    return read.end.kind === 'blocked' ? read.end : failStep(dependencies, step, read.end);
  const hooks = openStepHooks(dependencies, read.known);
  const answered = await withHookWork(hooks, dependencies.handover, () =>
    assembleAndAnswer(dependencies, { ...read.known, ...hooks }),
  );
  // The family shares the budget in which the step had a reservation.
  const { budgeted, parentId, childCount } = read.known.context.thread;
  if (budgeted && answered.kind !== 'blocked' && (parentId !== null || childCount > 0))
    await signalBudgetWaiters(dependencies.store, step.ref.threadId);
  return answered;
}

async function answerProduced(dependencies: ActivityDependencies, step: OpenStep): Promise<AnsweredOutcome> {
  const produced = await PRODUCED.pass(dependencies, step);
  if (produced.kind === 'end') return failStep(dependencies, step, produced.end);
  const hooks = openStepHooks(dependencies, produced.known);
  return withHookWork(hooks, dependencies.handover, () =>
    storeAnswer(dependencies, { ...produced.known, ...hooks }),
  );
}

async function assembleAndAnswer(
  dependencies: ActivityDependencies,
  step: HookedStep,
): Promise<AnsweredOutcome> {
  const assembled = await ASSEMBLE.pass(dependencies, step);
  if (assembled.kind === 'end') {
    const answer = await composeBlocked(step, assembled.end.by, step.active);
    return storeAnswer(dependencies, { ...step, answer });
  }
  const { messages, origins } = assembled.known;
  const asked = await ASK.pass(dependencies, { ...step, messages, origins });
  if (asked.kind === 'go') return storeAnswer(dependencies, { ...step, answer: asked.known.answer });
  const { end } = asked;
  if (end.kind === 'compact') return answerCompacted(dependencies, step);
  return end.kind === 'blocked' ? end : failStep(dependencies, step, end);
}

/** Done once per step, even if nothing could be summarised: after that the policy cannot ask for it again. */
async function answerCompacted(
  dependencies: ActivityDependencies,
  step: HookedStep,
): Promise<AnsweredOutcome> {
  const shorter = await compactForBudget(dependencies, step);
  if (shorter.kind === 'end')
    return shorter.end.kind === 'blocked' ? shorter.end : failStep(dependencies, step, shorter.end);
  return assembleAndAnswer(dependencies, { ...step, ...shorter.added, hasCompacted: true });
}

async function storeAnswer(dependencies: ActivityDependencies, step: AnsweredStep): Promise<AnsweredOutcome> {
  const stored = await STORE.pass(dependencies, step);
  return stored.kind === 'go' ? { kind: 'stored', record: stored.known.record } : stored.end;
}

async function failStep(
  { store }: ActivityDependencies,
  { ref }: OpenStep,
  end: FailedStep | Extract<UnsentRequest, { kind: 'terminated' }>,
): Promise<AnsweredOutcome> {
  if (end.kind === 'terminated') return end;
  const { code, message } = end.error;
  const error = { code, message: message.slice(0, 1000) };
  const failed = await store.steps.fail({ ...ref, error });
  return failed.kind === 'terminated' ? failed : { kind: 'failed', error };
}

/** Milliseconds without a new row in the log before the producer is checked again. */
const CHECK_INTERVAL_MS = 1000;

async function awaitProducer(
  { store, handover }: Pick<ActivityDependencies, 'store' | 'handover'>,
  { context: { thread, executionId }, active }: Pick<ReadStep, 'context' | 'active'>,
) {
  const signal = abortSignal(handover);
  for (;;) {
    const found = await store.producers.find(thread.id, executionId);
    if (!found) return end({ kind: 'failed', error: producerLost(executionId) });
    if (found.produced) return toAnswer(found.produced, active.prompt.name);
    // Ended here, then read again.
    if (found.overdue) await store.producers.closeLost();
    else await store.events.awaitGrowth(thread.id, found.lastSeq, { signal, withinMs: CHECK_INTERVAL_MS });
    if (signal.aborted) throw abortError(handover);
  }
}

function toAnswer(produced: Produced, prompt: string) {
  if (!produced.ok) return end({ kind: 'failed', error: produced.error });
  const { text: content, usage } = produced;
  return go({
    answer: { content, toolCalls: [], model: '', finishReason: 'produced', usage, prompt, ends: 'produced' },
  });
}

/**
 * Stage: appends a reminder about a loop of calls behind all results. It comes from the runtime: no hook sees it, and
 * it is not stored.
 */
function remind(
  _ports: unknown,
  { context: { loops = [] }, history }: History & { readonly context: Pick<StepContext, 'loops'> },
) {
  if (loops.length === 0) return go({ history });
  return go({ history: [...history, { role: 'user', content: composeReminder(loops) }] });
}
