/**
 * Begins a step (runtime §3.1): drains the queue, then decides with `planStep` whether the model is called or
 * what is stored is taken over.
 * B1. Draining comes first and is in the same transaction as the decision, so no input is ever lost between.
 * B2. A step is known to the workflow by (run, ordinal) and to the store by its own number; asking twice with
 *     the same key finds the same step, and drains nothing: an input that came in between is the next step's.
 * B3. A turn that a reset or a killed run left open goes on as the same execution, whatever the new run calls
 *     it: what the turn has said and done stays current in the model's context.
 * B4. Steps of sub-prompts lie within a call of another step: the workflow is told of that one alone, and finds them by it.
 * B5. A handoff takes effect with the next step that opens: a step that is taken over belongs to the agent that began it.
 * B6. The thread's row says who acts while steps open; one that is taken over says itself whose it is.
 */
import { planStep } from '../../../core/thread/plan-step.ts';
import type { BeginStep, BegunStep, StepRecord } from '../../port/thread-store.ts';
import { beginSession, hasUnanswered, setSession } from '../base/acting-side.ts';
import { type CommandOutcome, findOutcome, keepOutcome } from '../base/command-key.ts';
import { type CommandContext, inRun } from '../base/context.ts';
import { type StepRow, selectStep } from '../base/step-row.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { type Drained, drain } from '../message/drain.ts';
import { emitRejections, enqueueTools } from '../message/queue.ts';
import { applyHandoff } from './handoff.ts';
import { openImmediateStep } from './immediate.ts';
import { openModelStep, openToolStep, retryStep } from './open-step.ts';
import { keepScratch } from './scratch.ts';

export async function beginStep(context: CommandContext, command: BeginStep): Promise<BegunStep> {
  return inRun(context, command, async (thread) => {
    const before = await findOutcome(thread, command);
    if (before) return relaxCall(thread, await resume(thread, before));
    const executionId = await findExecution(thread, command.executionId);
    const unseen = await findUnseen(thread, command.afterStep);
    // B6: the store knows better where it is ahead.
    const behind = unseen !== undefined || (command.session !== undefined && (await hasUnanswered(thread)));
    setSession(thread, beginSession(thread.row, command, { behind }));
    const drained = await drain(thread, command, executionId);
    if (drained.wantsAnswer) thread.set({ answer_due: 1, turn_open: 1 });
    if (drained.tools.length > 0) thread.set({ turn_open: 1 });
    emitRejections(thread, command.rejections);
    const begun = await followPlan(thread, { ...command, executionId }, { drained, unseen });
    await keepScratch(thread, executionId, command.context);
    await enqueueTools(thread, command.queuedTools);
    await keepOutcome(thread, command, { step: stepOf(begun), swept: drained.swept });
    return relaxCall(thread, begun);
  });
}

/** The workflow is told of a call only by the commit that ends it. */
function relaxCall(thread: ThreadTransaction, begun: BegunStep): BegunStep {
  if (begun.kind === 'call') thread.relax();
  return begun;
}

function stepOf(begun: BegunStep): number | null {
  if (begun.kind === 'call') return begun.step;
  return begun.kind === 'stored' ? begun.record.step : null;
}

async function followPlan(
  thread: ThreadTransaction,
  command: BeginStep,
  { drained, unseen }: { readonly drained: Drained; readonly unseen: UnseenStep | undefined },
): Promise<BegunStep> {
  const plan = planStep({
    unseen: unseen && { step: unseen.row.step, settled: unseen.settled },
    newTools: drained.tools.length > 0,
    answerDue: thread.row.answer_due === 1,
    turnOpen: thread.row.turn_open === 1,
  });
  const { swept } = drained;
  // B5: a new step opens.
  if (plan.do === 'run_tools' || plan.do === 'call_model') applyHandoff(thread);
  // Queued tools must get their step even when an unfinished one is taken over first.
  const tools = drained.tools.length > 0 ? await openToolStep(thread, command, drained.tools) : undefined;
  switch (plan.do) {
    case 'nothing':
      return { kind: 'nothing_to_do', step: thread.row.last_step, swept };
    case 'adopt':
      await setRunning(thread, command.executionId);
      return { kind: 'stored', record: await describeStep(thread, plan.step), swept };
    case 'run_tools':
      await setRunning(thread, command.executionId);
      return { kind: 'stored', record: await describeStep(thread, tools as number), swept };
    case 'call_model': {
      await setRunning(thread, command.executionId);
      const immediate = await openImmediateStep(thread, command);
      if (immediate !== undefined)
        return { kind: 'stored', record: await describeStep(thread, immediate), swept };
      return { kind: 'call', step: await openModelStep(thread, command, drained), attempt: 1, swept };
    }
  }
}

/** The worker that had this step was lost, or its answer was: go on from what it left. */
async function resume(thread: ThreadTransaction, effect: CommandOutcome): Promise<BegunStep> {
  const { step: begun, swept } = effect;
  if (begun === null) return { kind: 'nothing_to_do', step: thread.row.last_step, swept };
  const step = await selectStep(thread.trx, thread.threadId, begun)
    .select(['step', 'state', 'attempt'])
    .executeTakeFirstOrThrow();
  switch (step.state) {
    case 'committed':
      return { kind: 'stored', record: await describeStep(thread, step.step), swept };
    case 'failed':
      return {
        kind: 'failed',
        step: step.step,
        error: JSON.parse(thread.row.last_error ?? '{"code":"Unknown","message":"the step failed"}'),
        swept,
      };
    case 'stopped':
    case 'abandoned':
      return { kind: 'nothing_to_do', step: step.step, swept };
    case 'open': {
      const attempt = await retryStep(thread, step);
      return { kind: 'call', step: step.step, attempt, swept };
    }
  }
}

/** B3: the execution that nobody has ended, else the one that the workflow proposes. */
async function findExecution(thread: ThreadTransaction, proposed: string): Promise<string> {
  const open = await thread.trx
    .selectFrom('executions')
    .select('id')
    .where('thread_id', '=', thread.threadId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return open?.id ?? proposed;
}

interface UnseenStep {
  readonly row: StepRow;
  readonly settled: boolean;
}

/** The first unfinished step that the workflow has not seen, else the last one it has not seen. */
async function findUnseen(thread: ThreadTransaction, afterStep: number): Promise<UnseenStep | undefined> {
  if (thread.row.last_step <= afterStep) return undefined;
  const rows = await thread.trx
    .selectFrom('steps')
    .selectAll()
    .where('thread_id', '=', thread.threadId)
    .where('step', '>', afterStep)
    // B4: steps of sub-prompts are left out.
    .where('kind', '!=', 'prompt')
    .orderBy('step')
    .execute();
  const committed = rows.filter((row) => row.state === 'committed');
  const last = committed.at(-1);
  if (!last) return undefined;
  const unsettled = await thread.trx
    .selectFrom('tool_calls')
    .select('step')
    .where('thread_id', '=', thread.threadId)
    .where('step', '>', afterStep)
    .where('state', 'in', ['scheduled', 'started'])
    // B4: a sub-prompt's step comes after the one whose call it answers, and that call is open as long as its own.
    .orderBy('step')
    .executeTakeFirst();
  const unfinished = committed.find((row) => row.step === unsettled?.step);
  if (unfinished) return { row: unfinished, settled: false };
  return { row: last, settled: true };
}

async function setRunning(thread: ThreadTransaction, executionId: string): Promise<void> {
  const started = await thread.trx
    .insertInto('executions')
    .values({
      thread_id: thread.threadId,
      id: executionId,
      started_at: thread.now,
      ended_at: null,
      stop_reason: null,
      context: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (started) thread.emit('execution.started', { executionId });
  if (thread.row.status === 'running') return;
  thread.set({ status: 'running', stop_reason: null, last_error: null });
  thread.emit('thread.status', { status: 'running' });
}

/** What the workflow must hear of a stored step. */
export async function describeStep(thread: ThreadTransaction, step: number): Promise<StepRecord> {
  const row = await selectStep(thread.trx, thread.threadId, step)
    .select(['kind', 'model', 'text', 'directive', 'side'])
    .executeTakeFirstOrThrow();
  const calls = await thread.trx
    .selectFrom('tool_calls')
    .select('name')
    .where('thread_id', '=', thread.threadId)
    .where('step', '=', step)
    .orderBy('idx')
    .execute();
  return {
    step,
    kind: row.kind,
    text: row.text === 1,
    model: row.model,
    side: row.side,
    calls: calls.map((call) => call.name),
    moreInput: row.kind !== 'prompt' && (await hasMoreInput(thread, step)),
    ...(row.directive ? { directive: row.directive } : {}),
  };
}

/** Input is stored that this step has not answered: a message, or queued tools, whose step opened along with it. */
export async function hasMoreInput({ row, trx }: ThreadTransaction, step: number): Promise<boolean> {
  if (row.answer_due === 1 || row.last_step <= step) return row.answer_due === 1;
  const later = await trx
    .selectFrom('steps')
    .select('step')
    .where('thread_id', '=', row.id)
    .where('step', '>', step)
    .where('kind', '!=', 'prompt')
    .limit(1)
    .executeTakeFirst();
  return later !== undefined;
}
