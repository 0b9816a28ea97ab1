/**
 * Begins a step (runtime §3.1): drains the queue, then decides with `planStep` whether the model is called or
 * what is stored is taken over.
 * B1. Draining comes first and is in the same transaction as the decision, so no input is ever lost between.
 * B2. A step is known to the workflow by (run, ordinal) and to the store by its own number; asking twice with
 *     the same key finds the same step.
 */
import type { Selectable } from 'kysely';
import { planStep } from '../../core/plan-step.ts';
import type { BeginStep, BegunStep, StepRecord } from '../port.ts';
import type { StepTable } from '../schema.ts';
import type { ThreadTransaction } from '../thread-transaction.ts';
import { type CommandContext, inThread } from './context.ts';
import { type Drained, drain, emitRejections } from './queue.ts';

type StepRow = Selectable<StepTable>;

export async function beginStep(context: CommandContext, command: BeginStep): Promise<BegunStep> {
  return inThread(context, command.threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    await thread.admit(command.runId);
    const drained = await drain(thread, command.items, command);
    if (drained.wantsAnswer) thread.set({ answer_due: 1, turn_open: 1 });
    if (drained.tools.length > 0) thread.set({ turn_open: 1 });
    const mine = await findByKey(thread, command);
    if (mine) return resumeStep(thread, mine, drained);
    emitRejections(thread, command.rejections);
    return followPlan(thread, command, drained);
  });
}

async function followPlan(thread: ThreadTransaction, command: BeginStep, drained: Drained): Promise<BegunStep> {
  const unseen = await findUnseen(thread, command.afterStep);
  const plan = planStep({
    unseen: unseen && { step: unseen.row.step, settled: unseen.settled },
    newTools: drained.tools.length > 0,
    answerDue: thread.row.answer_due === 1,
    turnOpen: thread.row.turn_open === 1,
  });
  const { swept } = drained;
  // Queued tools must get their step even when an unfinished one is taken over first.
  const tools = drained.tools.length > 0 ? await openToolStep(thread, command, drained) : undefined;
  switch (plan.do) {
    case 'nothing':
      return { kind: 'nothing_to_do', step: thread.row.last_step, swept };
    case 'adopt':
      await nameStep(thread, command, plan.step);
      await setRunning(thread, command.executionId);
      return { kind: 'stored', record: await describeStep(thread, plan.step), swept };
    case 'run_tools':
      await nameStep(thread, command, tools as number);
      await setRunning(thread, command.executionId);
      return { kind: 'stored', record: await describeStep(thread, tools as number), swept };
    case 'call_model':
      await setRunning(thread, command.executionId);
      return { kind: 'call', step: await openModelStep(thread, command, drained), attempt: 1, swept };
  }
}

/** The worker that had this step was lost, or its answer was: go on from what it left. */
async function resumeStep(thread: ThreadTransaction, step: StepRow, { swept }: Drained): Promise<BegunStep> {
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
      const attempt = step.attempt + 1;
      await thread.trx
        .updateTable('steps')
        .set({ attempt })
        .where('thread_id', '=', thread.threadId)
        .where('step', '=', step.step)
        .execute();
      await thread.trx
        .updateTable('model_calls')
        .set({ state: 'lost', ended_at: thread.now })
        .where('thread_id', '=', thread.threadId)
        .where('step', '=', step.step)
        .where('state', '=', 'started')
        .execute();
      thread.emit('step.retried', { reason: 'the worker that had it was lost' }, { step: step.step, attempt });
      return { kind: 'call', step: step.step, attempt, swept };
    }
  }
}

async function findByKey(thread: ThreadTransaction, command: BeginStep): Promise<StepRow | undefined> {
  return thread.trx
    .selectFrom('step_keys')
    .innerJoin('steps', (join) =>
      join.onRef('steps.thread_id', '=', 'step_keys.thread_id').onRef('steps.step', '=', 'step_keys.step'),
    )
    .selectAll('steps')
    .where('step_keys.thread_id', '=', thread.threadId)
    .where('step_keys.run_id', '=', command.runId)
    .where('step_keys.ordinal', '=', command.ordinal)
    .executeTakeFirst();
}

/** The first unfinished step that the workflow has not seen, else the last one it has not seen. */
async function findUnseen(
  thread: ThreadTransaction,
  afterStep: number,
): Promise<{ row: StepRow; settled: boolean } | undefined> {
  const rows = await thread.trx
    .selectFrom('steps')
    .selectAll()
    .where('thread_id', '=', thread.threadId)
    .where('step', '>', afterStep)
    .orderBy('step')
    .execute();
  const committed = rows.filter((row) => row.state === 'committed');
  if (committed.length === 0) return undefined;
  const unsettled = await thread.trx
    .selectFrom('tool_calls')
    .select('step')
    .where('thread_id', '=', thread.threadId)
    .where('step', '>', afterStep)
    .where('state', 'in', ['scheduled', 'started'])
    .orderBy('step')
    .executeTakeFirst();
  const unfinished = committed.find((row) => row.step === unsettled?.step);
  if (unfinished) return { row: unfinished, settled: false };
  return { row: committed[committed.length - 1] as StepRow, settled: true };
}

async function nameStep(thread: ThreadTransaction, command: BeginStep, step: number): Promise<void> {
  await thread.trx
    .insertInto('step_keys')
    .values({ thread_id: thread.threadId, run_id: command.runId, ordinal: command.ordinal, step })
    .execute();
}

async function insertStep(
  thread: ThreadTransaction,
  command: BeginStep,
  fields: Pick<StepRow, 'kind' | 'state'>,
): Promise<number> {
  const step = thread.row.last_step + 1;
  thread.set({ last_step: step });
  await thread.trx
    .insertInto('steps')
    .values({
      thread_id: thread.threadId,
      step,
      execution_id: command.executionId,
      ...fields,
      attempt: 1,
      message_id: null,
      model: null,
      text: 0,
      first_seq: thread.row.event_seq,
      opened_at: thread.now,
      closed_at: fields.state === 'open' ? null : thread.now,
    })
    .execute();
  return step;
}

async function openModelStep(thread: ThreadTransaction, command: BeginStep, drained: Drained): Promise<number> {
  // A step that a retired run left open will never be committed: its run is fenced off.
  await thread.trx
    .updateTable('steps')
    .set({ state: 'abandoned', closed_at: thread.now })
    .where('thread_id', '=', thread.threadId)
    .where('state', '=', 'open')
    .execute();
  const step = await insertStep(thread, command, { kind: 'model', state: 'open' });
  await nameStep(thread, command, step);
  thread.set({ turn_open: 1 });
  thread.emit('step.started', { items: command.items.length + drained.swept }, { step, attempt: 1 });
  return step;
}

async function openToolStep(thread: ThreadTransaction, command: BeginStep, drained: Drained): Promise<number> {
  const step = await insertStep(thread, command, { kind: 'tools', state: 'committed' });
  await thread.trx
    .insertInto('tool_calls')
    .values(
      drained.tools.map((tool, idx) => ({
        thread_id: thread.threadId,
        step,
        idx,
        call_id: tool.callId,
        name: tool.name,
        arguments: tool.arguments,
        origin: tool.origin,
        state: 'scheduled' as const,
        attempt: null,
        status: null,
        started_at: null,
        ended_at: null,
      })),
    )
    .execute();
  for (const tool of drained.tools) thread.emit('tool.called', { name: tool.name, callId: tool.callId, queued: true }, { step });
  return step;
}

async function setRunning(thread: ThreadTransaction, executionId: string): Promise<void> {
  const started = await thread.trx
    .insertInto('executions')
    .values({ thread_id: thread.threadId, id: executionId, started_at: thread.now, ended_at: null, stop_reason: null })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (Number(started.numInsertedOrUpdatedRows ?? 0) > 0) thread.emit('execution.started', { executionId });
  if (thread.row.status === 'running') return;
  thread.set({ status: 'running', stop_reason: null, last_error: null });
  thread.emit('thread.status', { status: 'running' });
}

/** What the workflow must hear of a stored step. */
export async function describeStep(thread: ThreadTransaction, step: number): Promise<StepRecord> {
  const row = await thread.trx
    .selectFrom('steps')
    .select(['kind', 'model', 'text'])
    .where('thread_id', '=', thread.threadId)
    .where('step', '=', step)
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
    calls: calls.map((call) => call.name),
    moreInput: thread.row.answer_due === 1 || thread.row.last_step > step,
  };
}
