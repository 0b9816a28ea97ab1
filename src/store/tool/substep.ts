/**
 * A step within a call of another step (definitions §12.6): the model step of a sub-prompt, and the step of the calls
 * before it.
 * S1. The step has the (step, index) of the call, so a repeated command finds it.
 * S2. The parent of the sub-prompt's messages is the id that the call's tool message will have (step-place.ts, P1).
 */
import type { Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { insertStep } from '../step/open-step.ts';
import { type CallKey, type CallRow, readCall, updateCall } from '../transaction/call-row.ts';
import { selectRows } from '../transaction/rows.ts';
import type { StepRow } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { OpenSubprompt } from './subprompt-record.ts';

interface Substeps {
  /** The calls that come before the model step (subprompt-immediate.ts). */
  readonly immediate?: StepRow;
  /** The step that the model answers. */
  readonly answering?: StepRow;
}

/** S1: the steps of a call. Their numbers are higher than that of the call's step, so few rows are read. */
export async function findSubsteps(
  trx: Transaction<Tables>,
  threadId: string,
  { step, index }: CallKey,
): Promise<Substeps> {
  const rows = await selectRows(trx, 'steps', { thread_id: threadId, parent_step: step, parent_idx: index })
    .selectAll()
    .where('step', '>', step)
    .execute();
  const isImmediate = (row: StepRow) => row.state === 'committed' && row.message_id === null;
  return { immediate: rows.find(isImmediate), answering: rows.find((row) => !isImmediate(row)) };
}

export interface OpenedSubstep {
  readonly call: CallRow;
  readonly step: number;
  /** The place of its messages. */
  readonly place: {
    readonly executionId: string;
    readonly step: number;
    readonly parentId: string;
    readonly depth: number;
  };
}

type Substep = Pick<OpenSubprompt, 'step' | 'index' | 'prompt' | 'parentId' | 'arguments'>;

export async function insertSubstep(
  thread: ThreadTransaction,
  command: Substep,
  state: 'open' | 'committed',
): Promise<OpenedSubstep> {
  const { step: parentStep, index, prompt } = command;
  const call = await readCall(thread, command);
  const parentId = call.message_id ?? command.parentId;
  // S2: the message's id is fixed from now on.
  if (call.message_id === null) await updateCall(thread, call, { message_id: parentId });
  const parent = await thread.read('steps', { step: parentStep });
  const depth = parent.depth + 1;
  const { execution_id: executionId } = parent;
  const step = await insertStep(thread, executionId, {
    kind: 'prompt',
    state,
    parent_step: parentStep,
    parent_idx: index,
    depth,
    prompt,
    arguments: JSON.stringify(command.arguments),
  });
  return { call, step, place: { executionId, step, parentId, depth } };
}
