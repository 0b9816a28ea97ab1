/**
 * What a sub-prompt's model sees (definitions §12.6, §22.8): the sub-prompt's own messages, after the thread's
 * conversation if its prompt includes that.
 * X1. The conversation ends before the message whose call it answers: a call without a result must never reach a
 *     provider, and neither may the results of that message's other calls.
 * X2. A sub-prompt's model does not see the messages of other sub-prompts, nor of the one around it.
 * X3. A summary covers no message of a sub-prompt, and nothing that follows the message whose call that answers.
 */
import type { Transaction } from 'kysely';
import { type ContextMessage, callKeys, resultKey } from '../../core/context/context.ts';
import { estimateMessage } from '../../core/context/context-estimate.ts';
import { toContextMessage } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { OPEN_CALL, selectStepCalls } from '../transaction/call-row.ts';
import { selectRows } from '../transaction/rows.ts';
import { byTime } from '../transaction/step-messages.ts';
import { type History, readHistory, type UncoveredWindow, whereOwnAfter } from './read-history.ts';
import type { StepPlace, SubpromptPlace } from './step-place-record.ts';

type Place = Pick<StepPlace, 'executionId' | 'thread' | 'side'>;

export async function readSubpromptHistory(
  db: Transaction<Tables>,
  place: Place,
  subprompt: SubpromptPlace,
  window: UncoveredWindow,
): Promise<History> {
  const own = await readOwn(db, place, subprompt, window);
  if (!window.includeChat) return { messages: own, trimmed: 0 };
  const { messages, trimmed } = await readHistory(db, place, excludeOwn(window, own));
  const open = await readOpenCalls(db, place);
  return { messages: [...withoutOpen(messages, open), ...own], trimmed };
}

async function readOwn(
  db: Transaction<Tables>,
  { thread, executionId }: Place,
  { parentId }: SubpromptPlace,
  { after }: UncoveredWindow,
): Promise<ContextMessage[]> {
  const all = selectRows(db, 'messages', {
    thread_id: thread.id,
    parent_id: parentId,
    status: 'completed',
  }).selectAll();
  // X3: the sub-prompt's messages follow the call that it answers, which no summary covers.
  const own =
    after === undefined
      ? all.where('execution_id', '=', executionId)
      : whereOwnAfter(all, executionId, after);
  const rows = await own.execute();
  // Sorted here, as in read-history.ts, so that the execution's index is used.
  return rows.map(toContextMessage).sort(byTime);
}

/** The window less the sub-prompt's own messages. */
function excludeOwn(window: UncoveredWindow, own: readonly ContextMessage[]): UncoveredWindow {
  if (window.tokens === undefined) return window;
  const taken = own.reduce(
    (sum, each) => sum + estimateMessage(each, { past: false, recent: true, own: true }, window.scale),
    0,
  );
  return { ...window, tokens: Math.max(0, window.tokens - taken) };
}

/** Calls of the thread's own steps that have no result. */
async function readOpenCalls(db: Transaction<Tables>, { thread }: Place): Promise<ReadonlySet<string>> {
  const rows = await selectStepCalls(db, thread.id)
    .select(['tool_calls.step', 'tool_calls.call_id'])
    .where('tool_calls.state', 'in', OPEN_CALL)
    .where('steps.depth', '=', 0)
    .execute();
  return new Set(rows.map(({ step, call_id: id }) => resultKey({ step, tool_call_id: id })));
}

/** X1: drops messages with open calls. */
function withoutOpen(messages: readonly ContextMessage[], open: ReadonlySet<string>): ContextMessage[] {
  const dropped = new Set<string>();
  const kept = messages.filter((message) => {
    const keys = callKeys(message);
    if (!keys.some((key) => open.has(key))) return true;
    for (const key of keys) dropped.add(key);
    return false;
  });
  return kept.filter((message) => message.role !== 'tool' || !dropped.has(resultKey(message)));
}
