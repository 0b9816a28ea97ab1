/**
 * Where a step stands: its execution with its scratch, and the sub-prompt whose step it is.
 * P1. A sub-prompt's step knows the call that it answers; that call has the id of its tool message from the moment the step
 *     opens, so whatever the sub-prompt says can name it as its parent before it is there.
 */
import type { ExpressionBuilder, InferResult, Transaction } from 'kysely';
import type { SideSteps } from '../../../core/thread/session.ts';
import type { StepContext, SubpromptPlace } from '../../port/thread-store.ts';
import type { Tables } from '../../schema/tables.ts';
import { selectCall } from './call-row.ts';
import { selectStep } from './step-row.ts';

const PLACE_COLUMNS = [
  'steps.execution_id',
  'steps.depth',
  'steps.parent_step',
  'steps.parent_idx',
  'steps.prompt',
  'steps.arguments',
  'steps.side',
] as const;

type Place = Pick<StepContext, 'executionId' | 'stepCount' | 'sideSteps' | 'side' | 'scratch' | 'subprompt'>;

/** All that a step of the thread's own needs. */
export function selectPlace(trx: Transaction<Tables>, threadId: string, step: number) {
  return trx
    .selectFrom('steps')
    .leftJoin('executions', (join) =>
      join
        .onRef('executions.thread_id', '=', 'steps.thread_id')
        .onRef('executions.id', '=', 'steps.execution_id'),
    )
    .select(PLACE_COLUMNS)
    .select('executions.context')
    .select((eb) => [countSteps(eb, 'a').as('steps_a'), countSteps(eb, 'b').as('steps_b')])
    .where('steps.thread_id', '=', threadId)
    .where('steps.step', '=', step);
}

type PlaceRow = InferResult<ReturnType<typeof selectPlace>>[number];

export async function toPlace(trx: Transaction<Tables>, threadId: string, row: PlaceRow): Promise<Place> {
  return {
    executionId: row.execution_id,
    ...toCounts({ a: Number(row.steps_a), b: Number(row.steps_b) }),
    side: row.side,
    scratch: row.context ? (JSON.parse(row.context) as Record<string, unknown>) : {},
    subprompt: await toSubprompt(trx, threadId, row),
  };
}

/** Model steps of one side in the execution of the step that is read; none lies before the first that limits count (step-count.ts). */
function countSteps(eb: ExpressionBuilder<Tables, 'steps'>, side: 'a' | 'b') {
  return eb
    .selectFrom('steps as own')
    .select((each) => each.fn.countAll<number>().as('count'))
    .whereRef('own.thread_id', '=', 'steps.thread_id')
    .where('own.step', '>=', (each) =>
      each.selectFrom('threads').select('counted_from').whereRef('threads.id', '=', 'steps.thread_id'),
    )
    .whereRef('own.execution_id', '=', 'steps.execution_id')
    .where('own.kind', '=', 'model')
    .where('own.side', '=', side)
    .where('own.state', 'in', ['open', 'committed']);
}

export function toCounts(sideSteps: SideSteps): Pick<Place, 'stepCount' | 'sideSteps'> {
  return { stepCount: sideSteps.a + sideSteps.b, sideSteps };
}

/** The execution, the side and the sub-prompt that the step's messages belong to. */
export type Owner = Pick<Place, 'executionId' | 'side' | 'subprompt'>;

export async function readOwner(trx: Transaction<Tables>, threadId: string, step: number): Promise<Owner> {
  return toOwner(trx, threadId, await readStep(trx, threadId, step));
}

export async function toOwner(trx: Transaction<Tables>, threadId: string, row: StepPlaceRow): Promise<Owner> {
  return { executionId: row.execution_id, side: row.side, subprompt: await toSubprompt(trx, threadId, row) };
}

/** The sub-prompt alone; null for a step of the thread's own. */
export async function readSubpromptPlace(
  trx: Transaction<Tables>,
  threadId: string,
  step: number,
): Promise<SubpromptPlace | null> {
  return toSubprompt(trx, threadId, await readStep(trx, threadId, step));
}

export async function readStep(trx: Transaction<Tables>, threadId: string, step: number) {
  return selectOwner(trx, threadId, step).executeTakeFirstOrThrow();
}

export function selectOwner(trx: Transaction<Tables>, threadId: string, step: number) {
  return selectStep(trx, threadId, step).select(PLACE_COLUMNS);
}

type StepPlaceRow = Awaited<ReturnType<typeof readStep>>;

async function toSubprompt(
  trx: Transaction<Tables>,
  threadId: string,
  row: StepPlaceRow,
): Promise<SubpromptPlace | null> {
  const { parent_step: parent, parent_idx: index, prompt } = row;
  if (parent === null || index === null || prompt === null) return null;
  const call = await selectCall(trx, threadId, { step: parent, index })
    .select('message_id')
    .executeTakeFirstOrThrow();
  const around = await readSubpromptPlace(trx, threadId, parent);
  return {
    prompt,
    arguments: JSON.parse(row.arguments ?? '{}') as Record<string, unknown>,
    depth: row.depth,
    // P1: given as the step opened.
    parentId: call.message_id as string,
    path: [...(around?.path ?? []), prompt],
  };
}
