/**
 * Threads of a task: an act starts them under ids derived from its own, and a step waits for one. Waiting only reads:
 * after the loss of a worker the check is repeated, and between two checks nothing is held but a timer of the workflow.
 */
import { Context } from '@temporalio/activity';
import { readOutputSchema } from '../../core/answer/output-schema.ts';
import type { ActionOutcome, AwaitedThread, TaskThread } from '../../core/author/task.ts';
import type { TaskDecision } from '../../core/task/control.ts';
import { isThreadId } from '../../core/thread/start-input.ts';
import { startOptions, WORKFLOW_TYPE } from '../../core/thread/start-options.ts';
import { tagOfTask } from '../../core/thread/task-start.ts';
import type { ThoughtOutcome } from '../../core/thread/task-step.ts';
import { deriveThreadId } from '../../core/thread/thread-id.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError } from '../base/guard.ts';
import { currentWorkflowQueue } from '../base/run-ref.ts';
import { fingerprintOf, type TaskFrame } from './task-frame.ts';

/** Id of the first message of such a thread, and of the content of its start. */
const FIRST = 'first';

/** Starts a thread of the task's owner, which may do no more than the task may; it is not a child of the task. */
export async function startThread(
  { store }: ActivityDependencies,
  { loop: { task, context: given } }: TaskFrame,
  {
    agent,
    content,
    output: type,
    key = '',
    idempotencyKey,
  }: TaskThread & { readonly idempotencyKey: string },
): Promise<{ readonly threadId: string }> {
  if (typeof agent !== 'string' || agent === '') throw invalid('"agent" must be the name of an agent');
  if (typeof content !== 'string' || Buffer.byteLength(content) > LIMITS.inlineBytes)
    throw invalid(`"content" must be a string of at most ${LIMITS.inlineBytes} bytes`);
  const read = type === undefined ? undefined : readOutputSchema(type);
  if (read?.ok === false) throw invalid(`"output" ${read.reason}`);
  const output = read && { output: read.schema };
  const threadId = deriveThreadId(agent, fingerprintOf([idempotencyKey, key]));
  const { client } = Context.current();
  const userId = task.userId === null ? {} : { userId: task.userId };
  const { organizationId } = (await store.threads.get(task.threadId)) ?? {};
  const context = { ...given, ...(organizationId === undefined ? {} : { organizationId }) };
  const standing = Object.keys(context).length > 0 ? { context } : {};
  // Temporal carries ids: an earlier attempt has stored the same under them.
  await store.queue.stage(threadId, { kind: 'message', id: FIRST, role: 'user', content, ...output });
  await store.sent.save(threadId, FIRST, { ...standing, tags: [tagOfTask(task.threadId)] });
  try {
    await client.workflow.start(WORKFLOW_TYPE, {
      ...startOptions({ threadId, agent }),
      taskQueue: currentWorkflowQueue(),
      args: [{ agent, threadId, ...userId, stored: FIRST, messages: [{ id: FIRST, stored: true }] }],
    });
  } catch (error) {
    // An earlier attempt has started it.
    if ((error as Error).name !== 'WorkflowExecutionAlreadyStartedError') throw error;
  }
  return { threadId };
}

function invalid(problem: string): RuntimeError {
  return new RuntimeError('InvalidValue', `startThread: ${problem}.`);
}

/**
 * Milliseconds: how long one check lasts, and the bounds of the pause between checks, which is a fourth of the time
 * waited so far.
 */
const CHECK_MS = 15_000;
const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;

export async function awaitThread(
  { store }: ActivityDependencies,
  { run, step, signal, loop }: TaskFrame,
  { threadId }: Extract<TaskDecision, { kind: 'await' }>,
): Promise<ThoughtOutcome> {
  await store.tasks.rest({ ...run, waits: true });
  const until = Date.now() + CHECK_MS;
  do {
    const { lastSeq = 0 } = (await store.threads.get(threadId)) ?? {};
    const outcome = await findOutcome(store, threadId);
    if (outcome) {
      await store.tasks.endAct({ threadId: run.threadId, step, outcome });
      return { kind: 'goes_on' };
    }
    await store.events.awaitGrowth(threadId, lastSeq, { signal, withinMs: Math.max(0, until - Date.now()) });
    if (signal.aborted) throw abortError();
  } while (Date.now() < until);
  // A step that has just begun has no row in the loop yet.
  const since = loop.steps.find((each) => each.step === step)?.startedAt;
  const waitedMs = since === undefined ? 0 : Date.now() - since / 1000;
  return { kind: 'looks', inMs: Math.round(Math.min(Math.max(waitedMs / 4, MIN_PAUSE_MS), MAX_PAUSE_MS)) };
}

/** Undefined while the thread works, waits for people, or has not been opened. */
async function findOutcome(store: ThreadStore, threadId: string): Promise<ActionOutcome | undefined> {
  if (!isThreadId(threadId))
    return { ok: false, code: 'ThreadNotFound', error: `There is no thread "${threadId}".` };
  const thread = await store.threads.get(threadId);
  if (!thread || thread.status === 'running' || thread.status === 'waiting') return undefined;
  const { status, lastError, output } = thread;
  // A thread that has just been opened is idle before its first step.
  const ended = await store.executions.get(threadId);
  if (status === 'idle' && (!ended || ended.endedAt === null)) return undefined;
  if (status === 'idle' && (await store.queue.count(threadId)) > 0) return undefined;
  const { messages } = await store.messages.list(threadId, { order: 'desc', limit: 20 });
  const answer = messages.find(({ role, content }) => role === 'assistant' && content);
  const result: AwaitedThread = {
    threadId,
    status,
    text: answer?.content ?? null,
    ...(output && { output }),
  };
  if (status === 'idle') return { ok: true, result };
  return {
    ok: false,
    result,
    code: lastError?.code ?? status,
    error: lastError?.message ?? `the thread is ${status}`,
  };
}
