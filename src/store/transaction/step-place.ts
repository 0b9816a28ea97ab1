/**
 * The place of a step: its execution with the scratch, and the sub-prompt that it belongs to.
 * P8. A sub-prompt's step refers to the call that it answers. That call has the id of its tool message from the moment
 *     the step opens, so messages of the sub-prompt can name it as their parent before it exists.
 */
import type { InferResult, Transaction } from 'kysely';
import type { RejectedAnswer } from '../../core/answer/typed-answer.ts';
import { type RunContext, withAgent } from '../../core/governance/run-context.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import type { JsonSchema } from '../../core/value/json-schema.ts';
import type { Tables } from '../schema/tables.ts';
import type { StepContext, SubpromptPlace } from '../step/step-place-record.ts';
import { readRow } from './rows.ts';
import { statement } from './statement.ts';
import { askedSteps } from './step-count.ts';
import type { StepRow } from './step-row.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

type Place = Pick<
  StepContext,
  | 'executionId'
  | 'stepCount'
  | 'sideSteps'
  | 'side'
  | 'scratch'
  | 'runContext'
  | 'subprompt'
  | 'rejected'
  | 'answerType'
>;

/** Selects the whole place of a step; that of a sub-prompt's step also needs its call. */
export const selectPlace = statement((db, threadId: string, step: number) =>
  db
    .selectFrom('steps')
    .leftJoin('executions', (join) =>
      join
        .onRef('executions.thread_id', '=', 'steps.thread_id')
        .onRef('executions.id', '=', 'steps.execution_id'),
    )
    .select(['execution_id', 'depth', 'parent_step', 'parent_idx', 'prompt', 'arguments', 'side'])
    .select(['executions.context', 'executions.run_context', 'executions.rejected', 'executions.answer_type'])
    .select('steps.rejected as own_rejected')
    .where('steps.thread_id', '=', threadId)
    .where('steps.step', '=', step),
);

type PlaceRow = InferResult<ReturnType<typeof selectPlace>>[number];

export async function toPlace(trx: Transaction<Tables>, thread: ThreadRow, row: PlaceRow): Promise<Place> {
  return {
    executionId: row.execution_id,
    ...toCounts(askedSteps(thread)),
    side: row.side,
    scratch: JSON.parse(row.context ?? '{}'),
    runContext: withCurrentAgent(thread, readContext(row.run_context)),
    subprompt: await toSubprompt(trx, thread.id, row),
    rejected: readJson<RejectedAnswer>(row.parent_step === null ? row.rejected : row.own_rejected),
    answerType: readJson<JsonSchema>(row.answer_type),
  };
}

export function readJson<Value>(text: string | null | undefined): Value | undefined {
  return text ? JSON.parse(text) : undefined;
}

export function readContext(text: string | null): RunContext | null {
  return text === null ? null : JSON.parse(text);
}

/** After a handoff the thread's agent differs from the one with which the execution began. */
export function withCurrentAgent(
  { agent }: Pick<ThreadRow, 'agent'>,
  context: RunContext | null,
): RunContext | null {
  return context && withAgent(context, agent);
}

export function toCounts(sideSteps: SideSteps): Pick<Place, 'stepCount' | 'sideSteps'> {
  return { stepCount: sideSteps.a + sideSteps.b, sideSteps };
}

/** The execution, the side and the sub-prompt that the step's messages belong to. */
export type Owner = Pick<Place, 'executionId' | 'side' | 'subprompt'>;

export async function readOwner(thread: ThreadTransaction, step: number): Promise<Owner> {
  return toOwner(thread, await thread.read('steps', { step }));
}

export async function toOwner({ trx, threadId }: ThreadTransaction, row: StepRow): Promise<Owner> {
  return { executionId: row.execution_id, side: row.side, subprompt: await toSubprompt(trx, threadId, row) };
}

/** Null for a step that belongs to none. */
export async function toSubprompt(
  trx: Transaction<Tables>,
  threadId: string,
  row: Pick<StepRow, 'parent_step' | 'parent_idx' | 'prompt' | 'arguments' | 'depth'>,
): Promise<SubpromptPlace | null> {
  const { parent_step: step, parent_idx: idx, prompt } = row;
  if (step === null || idx === null || prompt === null) return null;
  const parent = { thread_id: threadId, step };
  const call = await readRow(trx, 'tool_calls', { ...parent, idx }, ['message_id']);
  const around = await toSubprompt(trx, threadId, await readRow(trx, 'steps', parent));
  return {
    prompt,
    arguments: JSON.parse(row.arguments ?? '{}'),
    depth: row.depth,
    // P8: set when the step opened.
    parentId: call.message_id as string,
    path: [...(around?.path ?? []), prompt],
  };
}
