/**
 * A request for variables as a wait of the parent (core/wait): listed, answered and refused like any other. It has the
 * request's id, blocks only the child that is not created yet, and outlives the execution that asks.
 */
import type { EnvType } from '../../core/author/thread-env.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { WaitAnswer } from '../../core/wait/answer.ts';
import type { CommandContext } from '../transaction/context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { endWait, findWait, namesOf, type WaitRow } from '../wait/wait-row.ts';
import type { KeepRequest } from './variable-request-record.ts';

/** The wait's data: what people see of the request. */
export interface AskedVariables {
  readonly agent: string;
  readonly required: readonly string[];
  readonly missing: readonly string[];
  /** Variables that are not listed are secrets. */
  readonly types: Readonly<Record<string, EnvType>>;
}

export async function openVariableWait(
  context: CommandContext,
  parent: ThreadTransaction,
  { id, required, missing, types = {}, child: { agent } }: KeepRequest,
): Promise<void> {
  const asked: AskedVariables = { agent, required, missing, types };
  const bound = { name: `data of the request for variables of "${agent}"`, maxBytes: LIMITS.waitBytes };
  const row: WaitRow = {
    id,
    thread_id: parent.threadId,
    root_id: parent.row.root_id,
    key: `variables:${id}`,
    kind: 'variables',
    name: agent,
    summary: `Variables of the subagent "${agent}": ${missing.join(', ')}`.slice(0, LIMITS.waitSummaryChars),
    data: toJsonText(asked, bound),
    fingerprint: null,
    execution_id: null,
    step: null,
    idx: null,
    tool_call_id: null,
    blocks: 0,
    state: 'open',
    answer: null,
    reason: null,
    opened_at: await context.clock(parent.trx),
    expires_at: null,
    ended_at: null,
    heard: 1,
  };
  await parent.insert('waits', row);
  parent.set({ open_waits: parent.row.open_waits + 1 });
  parent.emit('wait.opened', { ...namesOf(row), summary: row.summary, expiresAt: null });
}

/** Ends the wait once the child is created, however the values came. The answer keeps only the names. */
export async function fulfilVariableWait(
  parent: ThreadTransaction,
  requestId: string,
  names: readonly string[],
  by?: string,
): Promise<void> {
  const answer: WaitAnswer = { value: { given: [...names].sort() }, by };
  const row = await findWait(parent.trx, requestId);
  if (row?.state === 'open') await endWait(parent, row, { state: 'answered', answer });
}
